import { afterAll, beforeAll, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { readSessions } from '../../../src/analysis/agents/read-sessions.ts'
import type { SessionRecord } from '../../../src/analysis/records/session.ts'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { exportLines } from '../../../src/server/sync/export.ts'
import { writeRecords } from '../../../src/server/sync/write.ts'
import { tenant } from '../../support/api.ts'
import { type TestDatabase, testDatabase } from '../../support/postgres.ts'
import { randomFrom } from './transcripts.ts'

// The sessions of all agents, with texts, arrive in pieces and in any order. Then all that is sent again is unchanged, and the
// figures are the same.

/** `ARRIVAL_ORDERS=50` for a measurement. */
const ORDERS = Number(process.env.ARRIVAL_ORDERS ?? 2)
const ROOTS = ['../../fixtures', '../../../../shared/data']
  .map((path) => join(import.meta.dir, path))
  .filter(existsSync)

const folder = mkdtempSync(join(tmpdir(), 'arrival-'))
let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await database.drop()
})

const send = async (orgId: string, records: readonly SessionRecord[]) =>
  await writeRecords(
    {
      sql: database.sql,
      now: () => new Date('2026-11-15T12:00:00Z'),
      storeContent: true,
      pricer: loadPricer,
    },
    orgId,
    records,
    undefined,
    {},
  )

async function read(path: string): Promise<SessionRecord[]> {
  const records: SessionRecord[] = []
  for await (const result of readSessions([path], { pricer: await loadPricer(), content: true }))
    records.push(...result.records)
  return records
}

/** The sessions of a folder read as a whole, of each of its files, and of both halves and the first third of those of lines. */
async function piecesOf(root: string): Promise<SessionRecord[]> {
  const pieces = await read(root)
  for (const name of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    pieces.push(...(await read(join(root, name))))
    if (!name.endsWith('.jsonl')) continue
    const lines = (await Bun.file(join(root, name)).text()).split('\n')
    const [third, half] = [Math.ceil(lines.length / 3), Math.ceil(lines.length / 2)]
    for (const [index, part] of [lines.slice(0, third), lines.slice(0, half), lines.slice(half)].entries()) {
      const path = join(folder, `${index}`, relative(ROOTS[0] ?? '', root), name)
      await Bun.write(path, `${part.join('\n')}\n`)
      pieces.push(...(await read(path)))
    }
  }
  return pieces
}

/** All that is stored of the sessions, but for times of writing, packing, and which session named a sub-agent's id first. */
async function figures(orgId: string): Promise<string[]> {
  let lines = ''
  for await (const some of exportLines(database.sql, orgId)) lines += some
  const sessions = lines.split('\n').filter((line) => line.startsWith('{"type":"session"'))
  return sessions
    .map((line) => {
      const { quality_metadata, parts: _parts, includes: _includes, ...session } = JSON.parse(line)
      return JSON.stringify({ ...session, score: quality_metadata.score })
    })
    .sort()
}

test('in any order: what is sent again is unchanged, the figures are the same', async () => {
  const pieces = (await Promise.all(ROOTS.map(piecesOf))).flat()
  const { orgId } = await tenant(database.sql)
  await send(orgId, pieces)
  const expected = await figures(orgId)
  for (let seed = 1; seed <= ORDERS; seed += 1) {
    const random = randomFrom(seed)
    const order = pieces.map((piece) => ({ piece, at: random() })).toSorted((a, b) => a.at - b.at)
    const other = await tenant(database.sql)
    while (order.length > 0)
      await send(
        other.orgId,
        order.splice(0, 1 + Math.floor(random() * 9)).map(({ piece }) => piece),
      )
    expect({ seed, ...(await send(other.orgId, pieces)) }).toMatchObject({ seed, updated: 0, created: 0 })
    expect({ seed, figures: await figures(other.orgId) }).toEqual({ seed, figures: expected })
  }
}, 1_200_000)
