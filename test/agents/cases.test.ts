import { describe, expect, test } from 'bun:test'
import { readdirSync, readlinkSync, statSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { type ReadOptions, readSessions, type SourceResult } from '../../src/agents/read-sessions.ts'
import type { SessionRecord } from '../../src/records/session.ts'
import { loadPricer } from '../../src/scoring/prices.ts'
import { scratchFolder } from '../support/cli.ts'

// What is easily counted twice, priced wrongly or passed over.

const CASES = join(import.meta.dir, '../fixtures/agent-cases')

async function read(paths: string[], options: Partial<ReadOptions> = {}) {
  const pricer = await loadPricer()
  const results: SourceResult[] = []
  const skipped: string[] = []
  const onSkipped = (file: string, reason: string) => skipped.push(`${file.split('/').at(-1)}: ${reason}`)
  for await (const result of readSessions(paths, { pricer, onSkipped, ...options })) results.push(result)
  const records = results.flatMap((result) => result.records)
  return { results, records, skipped, byEnd: new Map(records.map((record) => [record.id.slice(-1), record])) }
}

const tokensOf = (record: SessionRecord | undefined) =>
  [record?.tokens?.input, record?.tokens?.output, record?.tokens?.cache_read].join(' ')

describe('forks and sub-agents of Codex', () => {
  const FORKS = join(CASES, 'codex-forks')
  // input without the cache, output, cached
  const own: [string, string, string][] = [
    ['a-parent.jsonl', '1', '14000 300 16000'],
    ['b-fork.jsonl', '2', '2000 40 2000'],
    ['c-sub-agent.jsonl', '3', '25000 600 31000'],
    ['e-other-ids.jsonl', '5', '500 20 500'],
    ['f-old-parent.jsonl', '6', '3500 60 1500'],
    ['g-old-fork.jsonl', '7', '400 10 500'],
  ]

  test('together each counts what it used itself', async () => {
    const { byEnd, records } = await read([FORKS])
    expect(records).toHaveLength(own.length)
    for (const [name, end, tokens] of own)
      expect(`${name} ${tokensOf(byEnd.get(end))}`).toBe(`${name} ${tokens}`)
  })

  // without turn ids only the parent's totals tell what is copied
  test.each(own.filter(([name]) => name !== 'g-old-fork.jsonl'))(
    '%s alone does too',
    async (name, end, tokens) => {
      const { byEnd } = await read([join(FORKS, name)])
      expect(tokensOf(byEnd.get(end))).toBe(tokens)
    },
  )

  test('prompts and calls of the parent are not the fork’s', async () => {
    const { byEnd } = await read([FORKS])
    const fork = byEnd.get('2')
    expect(fork).toMatchObject({ turns: 2, tools_used: [{ name: 'exec_command', calls: 1, errors: 0 }] })
    expect(fork?.created_at).toBe('2026-03-01T11:00:00.000Z')
    expect(byEnd.get('7')).toMatchObject({ turns: 2 })
  })

  test('a fork without anything of its own costs nothing', async () => {
    const { records } = await read([join(FORKS, 'd-empty-fork.jsonl')])
    expect(records).toEqual([])
  })
})

describe('packed files', () => {
  const PLAIN = join(import.meta.dir, '../fixtures/agents')
  const packings: [string, (bytes: Uint8Array<ArrayBuffer>) => Uint8Array][] = [
    ['gz', (bytes) => Bun.gzipSync(bytes)],
    ['zst', (bytes) => Bun.zstdCompressSync(bytes)],
  ]
  const FILES = ['rollout.jsonl', 'stream.log', 'chat.json', 'chat.jsonl', 'opencode-export.jsonl']

  test.each(packings)('of .%s give what the plain ones do', async (ending, pack) => {
    for (const name of FILES) {
      const folder = scratchFolder()
      try {
        const path = join(folder.path, `${name}.${ending}`)
        await Bun.write(path, pack(await Bun.file(join(PLAIN, name)).bytes()))
        // logs without times have that of their file
        const { mtime } = statSync(join(PLAIN, name))
        utimesSync(path, mtime, mtime)
        const { records, results, skipped } = await read([folder.path])
        expect(skipped).toEqual([])
        expect(results.flatMap(({ unreadable }) => unreadable)).toEqual([])
        expect(records.length).toBeGreaterThan(0)
        expect(records).toEqual((await read([join(PLAIN, name)])).records)
      } finally {
        folder.remove()
      }
    }
  })

  test.each(packings)('of .%s leave no file open', async (ending, pack) => {
    const folder = scratchFolder()
    try {
      const rollout = await Bun.file(join(PLAIN, 'rollout.jsonl')).text()
      // not read to its end where only its head is
      const random = Array.from(
        { length: 3 * 1024 },
        () => `{"x":"${crypto.getRandomValues(Buffer.alloc(1024)).toString('hex')}"}`,
      )
      await Bun.write(
        join(folder.path, `a.jsonl.${ending}`),
        pack(new TextEncoder().encode(`${rollout}${random.join('\n')}`)),
      )
      await read([folder.path])
      const open = readdirSync('/proc/self/fd').flatMap((fd) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`)
        } catch {
          return []
        }
      })
      expect(open.filter((path) => path.startsWith(folder.path))).toEqual([])
    } finally {
      folder.remove()
    }
  })

  test.each(packings)('of .%s that are cut off or no sessions are named', async (ending, pack) => {
    const folder = scratchFolder()
    try {
      const rollout = await Bun.file(join(PLAIN, 'rollout.jsonl')).text()
      const long = new TextEncoder().encode(
        rollout + `${JSON.stringify({ type: 'event_msg', payload: {} })}\n`.repeat(50_000),
      )
      const packed = pack(long)
      await Bun.write(join(folder.path, `cut.jsonl.${ending}`), packed.subarray(0, packed.length - 20))
      await Bun.write(join(folder.path, `notes.md.${ending}`), pack(new TextEncoder().encode('# notes')))
      await Bun.write(join(folder.path, `other.json.${ending}`), new Uint8Array(packed.subarray(0, 5)))
      const { results, skipped } = await read([folder.path])
      const reasons = results.flatMap(({ unreadable }) => unreadable.map(({ reason }) => reason))
      expect(
        [...reasons, ...skipped].filter((reason) => /reading stopped|other\.json|cut\.jsonl/.test(reason)),
      ).toHaveLength(2)
    } finally {
      folder.remove()
    }
  })
})
