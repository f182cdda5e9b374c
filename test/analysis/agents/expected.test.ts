import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { SourceResult } from '../../../src/analysis/agents/read-sessions.ts'
import type { SessionRecord } from '../../../src/analysis/records/session.ts'
import { dollarsOf, loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { readAll } from './reading.ts'

// Real sessions from public repositories, which are not part of this repository.
const DATA = join(import.meta.dir, '../../../../shared/data')
const isPresent = existsSync(join(DATA, 'EXPECTED.json'))
const expected: Record<string, Record<string, unknown>> = isPresent
  ? await Bun.file(join(DATA, 'EXPECTED.json')).json()
  : {}
const files = Object.entries(expected).filter(([path]) => !path.startsWith('_'))

if (!isPresent) test.skip('known answers: the shared data is not here', () => {})

type Numbers = Record<string, number>
const numbers = (value: unknown): Numbers =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, count]) => typeof count === 'number'))

describe.skipIf(!isPresent)('known answers', () => {
  for (const [path, answer] of files) {
    test(path, async () => {
      const { results, records } = await readAll([join(DATA, path)])
      const [result] = results
      if (result === undefined) throw new Error('nothing read')
      expect(result.unreadable).toEqual([])
      if (answer.per_model_dedup !== undefined) checkClaude(result, records, answer)
      else if (answer.final_total_token_usage !== undefined)
        checkCodex(result, numbers(answer.final_total_token_usage))
      else if (answer['sum_tokens (input INCLUDES cached)'] !== undefined)
        checkGemini(result, numbers(answer['sum_tokens (input INCLUDES cached)']))
      else checkOpencode(result, records, answer)
      for (const record of records) checkSums(record)
    })
  }

  test('all files at once: the same usage, and the same records twice', async () => {
    const all = await readAll(files.map(([path]) => join(DATA, path)))
    expect(all.results).toHaveLength(files.length)
    for (const { path, usage } of all.results)
      expect(usage).toEqual((await readAll([path])).results[0]?.usage ?? {})
    expect((await readAll(files.map(([path]) => join(DATA, path)))).records).toEqual(all.records)
  })

  test('all files are read without an error', async () => {
    const { results } = await readAll([DATA])
    const formats = new Set<string>(results.map(({ format }) => format))
    for (const format of [
      'claude-code',
      'codex',
      'gemini',
      'opencode',
      'copilot',
      'qwen',
      'pi',
      'droid',
      'amp',
    ])
      expect(formats).toContain(format)
  })
})

function checkClaude(
  { usage, format }: SourceResult,
  records: SessionRecord[],
  answer: Record<string, unknown>,
): void {
  // two files are Gemini chats beside Claude's: the answers for them are empty
  if (answer.unique_api_calls === 0) {
    expect(format).toBe('gemini')
    return
  }
  const models = Object.entries(answer.per_model_dedup ?? {}).map(([model, given]) => {
    const tokens = numbers(given)
    const sums = {
      input: tokens.input_tokens,
      output: tokens.output_tokens,
      cache_read: tokens.cache_read_input_tokens,
      cache_creation: tokens.cache_creation_input_tokens,
    }
    return [model, { ...sums, cache_creation_1h: tokens.ephemeral_1h, reasoning: 0 }]
  })
  expect<unknown>(usage).toEqual(Object.fromEntries(models))
  const [record] = records
  expect(record?.turn_records?.filter((turn) => turn.role === 'assistant')).toHaveLength(
    Number(answer.unique_api_calls),
  )
  // the signals count these: a result whose call lies before the file's start belongs to no turn
  const counts = Object.fromEntries(
    record?.quality_metadata?.factors?.map(({ name, count }) => [name, count]) ?? [],
  )
  expect(counts.tool_errors).toBe(Number(answer.tool_errors))
  expect((counts.clean_tool_use ?? 0) + (counts.tool_errors ?? 0)).toBe(Number(answer.tool_results))
}

function checkCodex({ usage }: SourceResult, total: Numbers): void {
  const [sum] = Object.values(usage)
  expect(Object.keys(usage)).toHaveLength(1)
  expect((sum?.input ?? 0) + (sum?.cache_read ?? 0)).toBe(total.input_tokens ?? -1)
  expect(sum).toMatchObject({
    cache_read: total.cached_input_tokens,
    output: total.output_tokens,
    reasoning: total.reasoning_output_tokens,
  })
}

function checkGemini({ usage }: SourceResult, total: Numbers): void {
  const [sum] = Object.values(usage)
  expect((sum?.input ?? 0) + (sum?.cache_read ?? 0)).toBe((total.input ?? -1) + (total.tool ?? 0))
  expect((sum?.output ?? 0) - (sum?.reasoning ?? 0)).toBe(total.output ?? -1)
  expect(sum).toMatchObject({ cache_read: total.cached, reasoning: total.thoughts })
}

function checkOpencode(
  { usage }: SourceResult,
  records: SessionRecord[],
  answer: Record<string, unknown>,
): void {
  expect(Object.keys(usage).sort()).toEqual(Object.keys(answer).sort())
  let stored = 0
  for (const [model, given] of Object.entries(answer)) {
    const tokens = numbers(given)
    const sum = usage[model]
    expect((sum?.output ?? 0) - (sum?.reasoning ?? 0)).toBe(tokens.output ?? -1)
    expect(sum).toMatchObject({
      input: tokens.input,
      reasoning: tokens.reasoning,
      cache_read: tokens.cache_read,
      cache_creation: tokens.cache_write,
    })
    stored += tokens.stored_cost_usd ?? 0
  }
  expect(records.every((record) => record.cost_source === 'reported')).toBe(true)
  expect(records.reduce((sum, record) => sum + (record.estimated_cost ?? 0), 0)).toBeCloseTo(stored, 5)
}

function checkSums(record: SessionRecord): void {
  const turns = record.turn_records ?? []
  for (const key of ['input', 'output', 'cache_read', 'cache_creation'] as const) {
    expect(turns.reduce((sum, turn) => sum + (turn.tokens?.[key] ?? 0), 0)).toBe(record.tokens?.[key] ?? -1)
  }
}

test.skipIf(!isPresent)('our prices give OpenCode’s stored cost of every message to 6 decimals', async () => {
  const pricer = await loadPricer()
  let compared = 0
  for (const name of ['opencode-claude-opus-4-5.jsonl', 'opencode-gpt-5-2.jsonl']) {
    for (const record of (await readAll([join(DATA, 'opencode/xor-arvo', name)])).records) {
      for (const { model, tokens, cost, started_at } of record.turn_records ?? []) {
        if (!tokens || cost == null || !model) continue
        const ours = pricer.cost({ model, tokens, at: started_at ?? record.created_at }) ?? -1n
        expect(dollarsOf(ours)).toBe(cost)
        compared += 1
      }
    }
  }
  expect(compared).toBe(254)
})
