import { Database } from 'bun:sqlite'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

// Reads and damages the file of what the program remembers.

/** The folder of what is remembered, below the folder of this user's states. */
export const folderIn = (states: string): string => join(states, 'cloud-analytics')

export const pathIn = (states: string): string => join(folderIn(states), 'state.sqlite3')

/** Calls `use` with the file, opened by SQLite. */
export function inState<Result>(states: string, use: (database: Database) => Result): Result {
  const database = new Database(pathIn(states))
  try {
    return use(database)
  } finally {
    database.close()
  }
}

const KINDS = ['keys', 'files', 'sessions', 'commits', 'attributed', 'repositories']

/** The only server's values by kind and id. */
export const valuesIn = (states: string): Record<string, Record<string, unknown>> =>
  inState(states, (database) =>
    Object.fromEntries(
      [...KINDS, 'written'].map((kind) => {
        const rows = database.query<{ id: string; value: string }, []>(`select id, value from ${kind}`).all()
        return [kind, Object.fromEntries(rows.map(({ id, value }) => [id, JSON.parse(value)]))]
      }),
    ),
  )

/** Puts the files in its place that version 0.2 would have. `change`: what else is in the first of them. */
export function asFormer(states: string, change: (state: object) => object = (state) => state): string[] {
  const { written = {}, ...kinds } = valuesIn(states)
  const [server, id, slug, lines] = inState(states, (database) => {
    const [target = []] = database.query('select server, organization, slug from targets').values()
    return [...target, database.query('select line, owner from lines').values()] as const
  })
  const entries = (lines as [number, number][]).map(([line, owner]) => {
    const entry = Buffer.alloc(12)
    entry.writeBigUInt64LE(BigInt(line))
    entry.writeUInt32LE(owner, 8)
    return entry
  })
  const state = change({ version: 1, server, organization: { id, slug }, ...kinds })
  const name = 'a'.repeat(32)
  const files = {
    [`sync-${name}.json`]: JSON.stringify(state),
    [`lines-${name}.bin`]: Buffer.concat(entries),
    [`written-${name}.ndjson`]: Object.values(written)
      .map((action) => `${JSON.stringify(action)}\n`)
      .join(''),
  }
  rmSync(pathIn(states))
  for (const [file, content] of Object.entries(files)) writeFileSync(join(folderIn(states), file), content)
  return Object.keys(files)
}
