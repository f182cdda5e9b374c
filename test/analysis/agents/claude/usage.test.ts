import { describe, expect, test } from 'bun:test'
import type { SessionRecord } from '../../../../src/analysis/records/session.ts'
import { agentFiles, composed, lines, partsOf } from '../reading.ts'

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
    expect(record).toMatchObject({ estimated_cost: 0.0165, stated_cost: 0.05, models: [SONNET] })
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
    expect(record).toMatchObject({
      tokens: { input: 1_000, output: 100 },
      estimated_cost: 0.0075,
      stated_cost: 0.03,
    })
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

describe('a stated total at another price than the list’s', () => {
  const SONNET_5 = 'claude-sonnet-5'
  const costsOf = ({ turn_records }: SessionRecord) => (turn_records ?? []).flatMap(({ cost }) => cost ?? [])

  test('is kept beside the price of the tokens, also of those beyond the calls', async () => {
    // 2 and 10 dollars per million tokens; the agent states 1.5 times that
    const calls = [1, 2].map((number) => call(number, SONNET_5, usageOf([1_000, 500])))
    const equal = stated({ [SONNET_5]: total(2_000, 1_000, 0.021) })
    expect(await readOne({ 'a.jsonl': lines([prompt, ...calls, equal]) })).toMatchObject({
      estimated_cost: 0.014,
      stated_cost: 0.021,
      cost_source: 'estimated',
      turns: 3,
    })
    const more = stated({ [SONNET_5]: total(2_000, 2_000, 0.036) })
    const record = await readOne({ 'a.jsonl': lines([prompt, ...calls, more]) })
    expect(record).toMatchObject({ estimated_cost: 0.024, stated_cost: 0.036 })
    expect(costsOf(record)).toEqual([0.007, 0.007, 0.01])
    const alone = await readOne({ 'a.jsonl': lines([prompt, more]) })
    expect(alone).toMatchObject({ estimated_cost: 0.024, stated_cost: 0.036 })
  })

  test('counts where no call has a price, divided evenly over the calls', async () => {
    const calls = [1, 2, 3].map((number) => call(number, 'nobodys-model', usageOf([number * 100, 10])))
    const usage = { 'nobodys-model': total(600, 90, 0.1), [SONNET_5]: total(1_000, 0, 0.003) }
    const record = await readOne({
      'a.jsonl': lines([prompt, ...calls, call(4, SONNET_5, usageOf([1_000, 0])), stated(usage)]),
    })
    expect(record).toMatchObject({ estimated_cost: 0.102, stated_cost: 0.103 })
    expect(costsOf(record)).toEqual([0.033334, 0.033333, 0.033333, 0.002, 0])
    expect(record.unpriced_tokens).toBeUndefined()
  })

  test('is null where a part of it has no cost', async () => {
    const usage = { 'nobodys-model': total(600, 90), [SONNET_5]: total(1_000, 0, 0.003) }
    expect((await readOne({ 'a.jsonl': lines([prompt, stated(usage)]) })).stated_cost).toBeUndefined()
  })
})

describe('usage in other places than the sum', () => {
  const FABLE = 'claude-fable-5'
  const OPUS = 'claude-opus-4-8'
  const iteration = (type: string, tokens: readonly [number, number], more: object = {}) => ({
    ...{ type, ...usageOf(tokens) },
    ...more,
  })
  test.each<[string, string, object[], string[]]>([
    [
      'an advisor’s calls are of its model',
      OPUS,
      [iteration('message', [10, 1]), iteration('advisor_message', [900, 90], { model: FABLE })],
      [`${OPUS} 10 1`, `${FABLE} 900 90`],
    ],
    [
      'an advisor may be of the same model',
      OPUS,
      [iteration('advisor_message', [900, 90], { model: OPUS }), iteration('message', [10, 1])],
      [`${OPUS} 10 1`, `${OPUS} 900 90`],
    ],
    [
      'a model that refused was called before the one that answered',
      OPUS,
      [
        iteration('message', [7, 3], { model: FABLE }),
        iteration('fallback_message', [10, 1], { model: `${OPUS}-20260615` }),
      ],
      [`${OPUS} 10 1`, `${FABLE} 7 3`],
    ],
    [
      'a summary of the context is no part of the sum',
      OPUS,
      [iteration('compaction', [500, 50]), iteration('message', [10, 1], { model: null })],
      [`${OPUS} 10 1`, `${OPUS} 500 50`],
    ],
  ])('%s', async (_name, model, iterations, answers) => {
    const usage = { ...usageOf([10, 1]), iterations }
    // each line of a message repeats it
    const message = [call(1, model, usage), { ...call(1, model, usage), uuid: 'a1b' }]
    const log = message.map(({ sessionId, ...line }) => ({ ...line, session_id: sessionId }))
    for (const files of [{ 'a.jsonl': lines([prompt, ...message]) }, { 'a.jsonl': lines(log) }]) {
      const record = await readOne(files)
      expect(answersOf(record)).toEqual(answers)
    }
  })

  test('responses with one id are several calls, by their requests', async () => {
    const again = (number: number) => {
      const line = call(number, OPUS, usageOf([10 * number, number]))
      return { ...line, message: { ...line.message, id: 'msg_same' } }
    }
    const sidechain = { ...again(3), uuid: 's', requestId: 'r9', isSidechain: true }
    const files = [prompt, again(1), again(2), { ...again(2), uuid: 'a2b' }, sidechain, again(1)]
    const record = await readOne({ 'a.jsonl': lines(files), 'b.jsonl': lines(files.slice(0, 2)) })
    // a sidechain repeats a message under another request
    expect(answersOf(record)).toEqual([`${OPUS} 30 3`, `${OPUS} 20 2`])
  })
})

describe('tiers', () => {
  const OPUS = 'claude-opus-4-6'
  const costOf = async (usage: object, model = OPUS) => {
    const { records, results } = await read({
      'a.jsonl': lines([prompt, call(1, model, { ...usageOf([1_000_000, 100_000]), ...usage })]),
    })
    const unpriced = results.flatMap(({ unpricedModels }) => unpricedModels)
    return [records[0]?.estimated_cost, records[0]?.unpriced_tokens, ...unpriced]
  }

  test.each<[object, (number | string | undefined)[]]>([
    [{ speed: 'standard', service_tier: 'standard', inference_geo: 'global' }, [7.5, undefined]],
    [{ speed: 'fast', service_tier: 'standard', inference_geo: '' }, [45, undefined]],
    [{ speed: 'standard', inference_geo: 'us' }, [8.25, undefined]],
    [{ speed: 'fast', inference_geo: 'us' }, [49.5, undefined]],
    [{ service_tier: 'batch' }, [3.75, undefined]],
    [{ service_tier: 'priority' }, [0, 1_100_000, `${OPUS} (priority)`]],
  ])('%j', async (usage, expected) => {
    expect(await costOf(usage)).toEqual(expected)
  })

  test('a tier without a price for the model is named with it', async () => {
    expect(await costOf({ speed: 'fast' }, 'claude-sonnet-4-6')).toEqual([
      ...[0, 1_100_000, 'claude-sonnet-4-6 (fast)'],
    ])
  })

  test('what the agent states of the cost counts', async () => {
    const fast = { ...usageOf([1_000, 100]), speed: 'fast' }
    const { records, results } = await read({
      'a.jsonl': lines([
        prompt,
        call(1, 'claude-sonnet-4-6', fast),
        stated({ 'claude-sonnet-4-6': total(1_000, 100, 0.9) }),
      ]),
    })
    expect(records[0]).toMatchObject({ estimated_cost: 0.9, cost_source: 'reported' })
    expect(results.flatMap(({ unpricedModels }) => unpricedModels)).toEqual([])
  })

  test('a part of an earlier version, which knew no tier, gives way', async () => {
    const record = await readOne({
      'a.jsonl': lines([prompt, call(1, OPUS, { ...usageOf([1_000_000, 0]), speed: 'fast' })]),
    })
    const parts = partsOf(record)
    const earlier = parts.turns.map(({ tier, ...turn }) => ({
      ...turn,
      estimate: tier === undefined ? turn.estimate : '5000000000000',
    }))
    const both = [parts, { ...parts, turns: earlier }]
    for (const order of [both, both.toReversed()])
      expect(composed(order, { id: 's', project_name: '' })?.estimated_cost).toBe(30)
  })
})
