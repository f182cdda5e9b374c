import { expect, test } from 'bun:test'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import type { SessionRecord } from '../../../src/analysis/records/session.ts'
import { testsFolder } from '../../support/at-end.ts'
import { merged, readAll } from '../agents/reading.ts'
import { type MadeFile, makeTranscripts, putFile, randomFrom } from './transcripts.ts'

// Whatever files a session is read from, in whatever order and in how many runs: the record is the same. The runs are of the
// parts alone; `test/analysis/fragments/sync.test.ts` sends some to a server.

/** `UNION_ORDERS=200` for a measurement. */
const ORDERS = Number(process.env.UNION_ORDERS ?? 25)
const MADE = Number(process.env.UNION_SESSIONS ?? 60)

const folder = testsFolder().path

const read = async (paths: readonly string[]) => (await readAll(paths)).records

const figuresOf = (record: SessionRecord) => ({ ...record, parts: null })

/** A file whole, with an older checkpoint, twice, in two parts. */
function piecesOf(file: MadeFile, random: () => number): MadeFile[][] {
  const cut = 1 + Math.floor(random() * (file.lines.length - 1))
  const first = { ...file, lines: file.lines.slice(0, cut) }
  const rest = { ...file, lines: file.lines.slice(cut) }
  // the end of a fork alone does not tell whose its first lines are; without an id nothing tells whose an end is
  const isTold = !file.path.endsWith('-fork.jsonl') && /"session(?:Id|_id)"/.test(rest.lines[0] ?? '')
  const ways = [
    [file],
    [file, first],
    [file, file],
    ...(isTold
      ? [
          [first, rest],
          [rest, file],
        ]
      : []),
  ]
  return (ways[Math.floor(random() * ways.length)] ?? []).map((piece) => [piece])
}

async function pieceRecords(files: readonly MadeFile[], seed: number): Promise<SessionRecord[]> {
  const random = randomFrom(seed)
  const records: SessionRecord[] = []
  const pieces = files
    .flatMap((file) => piecesOf(file, random))
    .filter(([piece]) => (piece?.lines.length ?? 0) > 0)
  for (const [number, piece] of pieces.entries()) {
    const target = join(folder, `pieces-${seed}-${number}`)
    records.push(...(await read(piece.map((file) => putFile(target, file)))))
    rmSync(target, { recursive: true })
  }
  return records
}

async function expectSame(files: readonly MadeFile[], orders: number): Promise<void> {
  const whole = join(folder, `whole-${files.length}`)
  const all = new Map(
    (await read(files.map((file) => putFile(whole, file)))).map((record) => [record.id, figuresOf(record)]),
  )
  const records = await pieceRecords(files, files.length)
  fc.assert(
    fc.property(fc.shuffledSubarray(records, { minLength: records.length }), (order) => {
      const found = merged(order)
      expect(found.map(({ id }) => id).sort()).toEqual([...all.keys()].sort())
      for (const record of found) {
        const { id, project_name } = record
        expect<object>(figuresOf(record)).toEqual({ ...all.get(id), project_name })
      }
    }),
    { numRuns: orders },
  )
}

test('made sessions, their copies, checkpoints and ends in random orders', async () => {
  await expectSame(makeTranscripts(MADE, 5), ORDERS)
}, 600_000)

test('the end of a rollout alone is skipped: nothing says which session it is of', async () => {
  const lines = readFileSync(join(import.meta.dir, '../../fixtures/agents/rollout.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
  const path = putFile(folder, { path: 'end.jsonl', lines: lines.slice(2) })
  const { records, skipped } = await readAll([path])
  expect(records).toEqual([])
  expect(skipped).toEqual([expect.stringContaining('its beginning is missing')])
})
