import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { SessionRecord, Tokens } from '../../../src/analysis/records/session.ts'
import { asDollars, loadPricer } from '../../../src/analysis/scoring/prices.ts'
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
      if (answer.per_model_dedup !== undefined) checkClaude(result.format, records, answer)
      else if (answer.final_total_token_usage !== undefined)
        checkCodex(records, numbers(answer.final_total_token_usage))
      else if (answer['sum_tokens (input INCLUDES cached)'] !== undefined)
        checkGemini(records, numbers(answer['sum_tokens (input INCLUDES cached)']))
      else checkOpencode(records, answer)
      for (const record of records) checkSums(record)
    })
  }

  test('all files at once: the same records twice', async () => {
    const all = await readAll(files.map(([path]) => join(DATA, path)))
    expect(all.results).toHaveLength(files.length)
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

/** The tokens of answers by model. */
function tokensByModel(records: readonly SessionRecord[]): Record<string, Required<Tokens>> {
  const sums: Record<string, Required<Tokens>> = {}
  for (const { model, tokens } of records.flatMap(({ turn_records }) => turn_records ?? [])) {
    if (tokens == null) continue
    const none = { input: 0, output: 0, cache_read: 0, cache_creation: 0, cache_creation_1h: 0 }
    const sum = sums[model ?? ''] ?? none
    sums[model ?? ''] = sum
    for (const kind of Object.keys(none) as (keyof Tokens)[]) sum[kind] += tokens[kind] ?? 0
  }
  return sums
}

function checkClaude(format: string, records: SessionRecord[], answer: Record<string, unknown>): void {
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
    return [model, { ...sums, cache_creation_1h: tokens.ephemeral_1h }]
  })
  expect<unknown>(tokensByModel(records)).toEqual(Object.fromEntries(models))
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

function checkCodex(records: SessionRecord[], total: Numbers): void {
  const [sum, ...others] = Object.values(tokensByModel(records))
  expect(others).toEqual([])
  expect((sum?.input ?? 0) + (sum?.cache_read ?? 0)).toBe(total.input_tokens ?? -1)
  expect(sum).toMatchObject({ cache_read: total.cached_input_tokens, output: total.output_tokens })
}

function checkGemini(records: SessionRecord[], total: Numbers): void {
  const [sum] = Object.values(tokensByModel(records))
  expect((sum?.input ?? 0) + (sum?.cache_read ?? 0)).toBe((total.input ?? -1) + (total.tool ?? 0))
  expect(sum).toMatchObject({ cache_read: total.cached, output: (total.output ?? 0) + (total.thoughts ?? 0) })
}

function checkOpencode(records: SessionRecord[], answer: Record<string, unknown>): void {
  const usage = tokensByModel(records)
  expect(Object.keys(usage).sort()).toEqual(Object.keys(answer).sort())
  let stored = 0
  for (const [model, given] of Object.entries(answer)) {
    const tokens = numbers(given)
    expect(usage[model]).toMatchObject({
      input: tokens.input,
      output: (tokens.output ?? 0) + (tokens.reasoning ?? 0),
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
        expect(asDollars(ours)).toBe(cost)
        compared += 1
      }
    }
  }
  expect(compared).toBe(254)
})
