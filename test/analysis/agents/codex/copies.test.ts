import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { mergeFragments } from '../../../../src/analysis/fragments/merge.ts'
import type { SessionRecord } from '../../../../src/analysis/records/session.ts'
import { codexRollout, type Step } from '../agent-scripts.ts'
import { agentFiles, composed, partsOf, readAll } from '../reading.ts'
import { calls, newRollout, threadId } from './rollouts.ts'

// A session is found in several files: moved to `archived_sessions`, in a backup, packed, as an older checkpoint. Whatever
// order they are read in, in one run or several, it is what the whole file says.

const { write } = agentFiles()
const ORDERS = Number(process.env.COPIES_ORDERS ?? 15)

const read = async (folder: string, content = false) => (await readAll([folder], { content })).records

/** The record that several runs make of one session. */
function merged(records: readonly SessionRecord[]): object {
  const [first] = records
  if (first === undefined) throw new Error('no record')
  const { id, project_name } = first
  const parts = records.map(partsOf).reduce(mergeFragments)
  return { ...composed([parts], { id, project_name }), parts }
}

function scripted(): string[] {
  const rollout = newRollout(threadId(1))
  rollout.turn(threadId(2), 'run it')
  rollout.answer('I run two commands.')
  rollout.script(
    'call_1',
    'await tools.exec_command({ cmd: "make" }); await tools.exec_command({ cmd: "make test" })',
  )
  rollout.record('resp_1', calls(1), calls(1))
  rollout.item('item_1', 'make', 0)
  rollout.item('item_2', 'make test', 1)
  rollout.ended('call_1')
  rollout.count(calls(1))
  rollout.script('call_2', 'text(1)')
  rollout.record('resp_2', calls(1), calls(2))
  rollout.ended('call_2', 'Script failed')
  rollout.count(calls(2))
  rollout.record('resp_3', calls(1), calls(3))
  rollout.add('compacted', { message: '' })
  rollout.event('context_compacted')
  rollout.count(calls(2), { input: 0, output: 0 })
  rollout.turn(threadId(3), 'and again')
  rollout.answer('Again.')
  rollout.record('resp_4', calls(1), calls(4))
  rollout.count(calls(1))
  rollout.event('turn_aborted')
  return rollout.lines()
}

function counted(): string[] {
  const rollout = newRollout(threadId(1))
  rollout.turn(threadId(2), 'run it')
  for (const number of [1, 2, 3, 4]) {
    if (number === 2) rollout.answer('Now a command.')
    rollout.command(`call_${number}`, `make ${number}`, number % 2)
    rollout.count(calls(number > 3 ? 1 : number))
    rollout.count(calls(number > 3 ? 1 : number))
  }
  return rollout.lines()
}

const STEPS: Step[] = [
  { command: 'chmod 777 run.sh', output: '', exit: 0 },
  { file: 'notes.txt', text: 'one\ntwo\n' },
  { file: '.env', text: 'NAME=value\n' },
  { command: 'git push --force', output: 'fatal: no upstream', exit: 128 },
  { command: 'rm -rf /', output: '', exit: 1, isRefused: true },
]
const linesOf = (text: string) => text.trimEnd().split('\n')
const REAL = join(import.meta.dir, '../../../../../shared/data/codex')
const real: [string, string[]][] = existsSync(REAL)
  ? readdirSync(REAL, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.jsonl'))
      .map((name) => [name, linesOf(readFileSync(join(REAL, name), 'utf8'))])
  : []

const FILES: [string, string[]][] = [
  ['with records and scripts', scripted()],
  ['with running totals', counted()],
  ['with items for its calls', linesOf(codexRollout(STEPS, { hasItems: true }))],
  ['with the items of scripts', linesOf(codexRollout(STEPS, { hasItems: true, isScripted: true }))],
  ...real,
]

const PACKINGS: [string, (text: string) => string | Uint8Array<ArrayBuffer>][] = [
  ['', (text) => text],
  ['.gz', (text) => Bun.gzipSync(Buffer.from(text))],
  ['.zst', (text) => new Uint8Array(Bun.zstdCompressSync(text))],
]

test.each(FILES)(
  'copies in random orders, in one run and several: %s',
  async (_name, lines) => {
    const textOf = (end: number) => `${lines.slice(0, end).join('\n')}\n`
    const whole = await write({ 'sessions/rollout.jsonl': textOf(lines.length) })
    const [record] = await read(whole)
    if (record === undefined) throw new Error('no record')
    const alone = merged([record])
    const [withContent] = await read(whole, true)
    const piece = fc.record({
      // mostly the whole, else a checkpoint
      end: fc.oneof(fc.constant(lines.length), fc.integer({ min: 4, max: lines.length })),
      folder: fc.constantFrom('sessions/2026', 'archived_sessions', 'backup', 'a', 'z'),
      packing: fc.constantFrom(...PACKINGS),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { minLength: 1, maxLength: 4 }), async (pieces) => {
        const files = [
          ...pieces,
          { end: lines.length, folder: 'm', packing: PACKINGS[0] as (typeof PACKINGS)[0] },
        ]
        const named = files.map(({ end, folder, packing: [ending, pack] }, index) => ({
          path: `${folder}/rollout-${index}.jsonl${ending}`,
          content: pack(textOf(end)),
        }))
        // in one run
        const all = await write(Object.fromEntries(named.map(({ path, content }) => [path, content])))
        const together = await read(all)
        expect(together).toHaveLength(1)
        expect(together.map((each) => ({ ...each, parts: null }))).toEqual([{ ...record, parts: null }])
        expect(merged(together)).toEqual(alone)
        const [content] = await read(all, true)
        // a checkpoint may have a text of a script that the whole has in parts
        if (files.every(({ end }) => end === lines.length))
          expect(content?.turn_records).toEqual(withContent?.turn_records)
        // in several
        const apart: SessionRecord[] = []
        for (const { path, content: each } of named)
          apart.push(...(await read(await write({ [path]: each }))))
        expect(merged(apart)).toEqual(alone)
      }),
      { numRuns: ORDERS },
    )
  },
  900_000,
)
