import { describe, expect, test } from 'bun:test'
import type { SessionRecord } from '../../../src/records/session.ts'
import { agentFiles, lines } from '../reading.ts'

// Usage of models as Claude Code states it, under whatever name and in whatever place.

const { read, readOne } = agentFiles()

const at = (second: number) => `2026-08-20T09:00:${String(second).padStart(2, '0')}.000Z`
const prompt = { type: 'user', sessionId: 's1', uuid: 'p', timestamp: at(0), message: { content: 'go' } }
const usageOf = ([input_tokens, output_tokens]: readonly [number, number]) => ({
  input_tokens,
  output_tokens,
})
const call = (number: number, model: string, usage: object, more: object = {}) => ({
  ...{
    type: 'assistant',
    sessionId: 's1',
    uuid: `a${number}`,
    timestamp: at(number),
    requestId: `r${number}`,
  },
  message: { id: `msg_${number}`, role: 'assistant', model, content: [], usage },
  ...more,
})
const total = (inputTokens: number, outputTokens: number, costUSD?: number) => ({
  ...{ inputTokens, outputTokens, cacheReadInputTokens: 0, cacheCreationInputTokens: 0 },
  ...(costUSD === undefined ? {} : { costUSD }),
})
const stated = (modelUsage: object) => ({ type: 'cost-state', sessionId: 's1', modelUsage })

/** Model, input and output of each answer, and `rest` for what is not of a call. */
const answersOf = ({ turn_records }: SessionRecord) =>
  (turn_records ?? []).flatMap(({ role, model, tokens }) =>
    role === 'user'
      ? []
      : [`${role === 'unattributed' ? 'rest ' : ''}${model} ${tokens?.input} ${tokens?.output}`],
  )

describe('a total and its calls under two names', () => {
  const SONNET = 'claude-sonnet-4-5-20250929'
  const OPUS = 'claude-opus-4-6'
  test.each([
    'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
    'arn:aws:bedrock:eu-west-1:123456789012:application-inference-profile/a1b2c3',
    'claude-sonnet-4-5@20250929',
    'claude-sonnet-4-5[1m]',
    'publishers/anthropic/models/claude-sonnet-4-5@20250929',
    'our-gateways-alias',
  ])('%s', async (name) => {
    const usage = { [name]: total(2_000, 1_000, 0.021) }
    const calls = [1, 2].map((number) => call(number, SONNET, usageOf([1_000, 500])))
    const record = await readOne({ 'a.jsonl': lines([prompt, ...calls, stated(usage)]) })
    expect(record).toMatchObject({ estimated_cost: 0.021, cost_source: 'reported', models: [SONNET] })
    expect(answersOf(record)).toEqual([`${SONNET} 1000 500`, `${SONNET} 1000 500`])
  })

  test('what it has beyond them is of the calls’ name', async () => {
    const usage = { 'our-alias': total(2_500, 600, 0.05) }
    const record = await readOne({
      'a.jsonl': lines([prompt, call(1, SONNET, usageOf([1_000, 500])), stated(usage)]),
    })
    expect(answersOf(record)).toEqual([`${SONNET} 1000 500`, `rest ${SONNET} 1500 100`])
    expect(record).toMatchObject({ estimated_cost: 0.05, models: [SONNET] })
  })

  test('of several that name none, calls are of the smallest with room for them', async () => {
    const usage = { small: total(900, 400), large: total(9_000, 4_000), [OPUS]: total(70, 7) }
    const record = await readOne({
      'a.jsonl': lines([
        prompt,
        call(1, SONNET, usageOf([8_000, 3_000])),
        call(2, 'claude-haiku-4-5', usageOf([800, 300])),
        call(3, OPUS, usageOf([70, 7])),
        stated(usage),
      ]),
    })
    expect(answersOf(record)).toEqual([
      `${SONNET} 8000 3000`,
      'claude-haiku-4-5 800 300',
      `${OPUS} 70 7`,
      'rest claude-haiku-4-5 100 100',
      `rest ${SONNET} 1000 1000`,
    ])
  })

  test('two names of one model are one total', async () => {
    const usage = { [OPUS]: total(600, 60, 0.01), [`us.anthropic.${OPUS}-v1`]: total(400, 40, 0.02) }
    const record = await readOne({
      'a.jsonl': lines([prompt, call(1, OPUS, usageOf([1_000, 100])), stated(usage)]),
    })
    expect(answersOf(record)[0]).toBe(`${OPUS} 1000 100`)
    expect(record).toMatchObject({ tokens: { input: 1_000, output: 100 }, estimated_cost: 0.03 })
  })

  test('a total of a name without a price covers its calls', async () => {
    const usage = { 'arn:aws:bedrock:eu-west-1:1:application-inference-profile/x': total(1_000, 500, 0.4) }
    const files = {
      'a.jsonl': lines([prompt, call(1, 'nobodys-model', usageOf([1_000, 500])), stated(usage)]),
    }
    const { records, results } = await read(files)
    expect(records[0]).toMatchObject({ estimated_cost: 0.4, cost_source: 'reported' })
    expect(records[0]?.unpriced_tokens).toBeUndefined()
    expect(results.flatMap(({ unpricedModels }) => unpricedModels)).toEqual([])
  })
})
