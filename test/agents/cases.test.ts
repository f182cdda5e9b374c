import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { type ReadOptions, readSessions, type SourceResult } from '../../src/agents/read-sessions.ts'
import type { SessionRecord } from '../../src/records/session.ts'
import { loadPricer } from '../../src/scoring/prices.ts'

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
