import { describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { findProvider } from '@pydantic/genai-prices'
import { asDollars, loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { parsePriceOverrides } from '../../../src/base/model-prices.ts'

// Prices of our own table, and all prices against those that LiteLLM has.

const MILLION = 1_000_000
const AT = '2026-07-24T12:00:00.000Z'

/** US dollars per million tokens: input, output, cached input, cache write; null for an unknown model. */
async function priceOf(model: string, at = AT): Promise<(number | null)[]> {
  const pricer = await loadPricer()
  return [{ input: MILLION }, { output: MILLION }, { cache_read: MILLION }, { cache_creation: MILLION }].map(
    (tokens) => {
      const cost = pricer.cost({ model, tokens, at, aggregated: true })
      return cost === undefined ? null : asDollars(cost)
    },
  )
}

describe('prices of our own', () => {
  test.each([
    ['deepseek-chat', 0.14, 0.28, 0.0028],
    ['deepseek/deepseek-reasoner', 0.14, 0.28, 0.0028],
    ['deepseek-flash', 0.14, 0.28, 0.0028],
    ['kimi-k2', 0.6, 2.5, 0.15],
    ['moonshotai/kimi-k2', 0.6, 2.5, 0.15],
    ['glm-4.5', 0.6, 2.2, 0.11],
    ['glm-4.6', 0.6, 2.2, 0.11],
    ['z-ai/glm-4.6', 0.6, 2.2, 0.11],
    ['GLM-4.7', 0.6, 2.2, 0.11],
    ['glm-5.1', 1.4, 4.4, 0.26],
    ['qwen3-coder', 1.5, 7.5, 1.5],
    ['qwen3-coder-plus', 1, 5, 0.1],
    ['gpt-5.2-codex', 1.75, 14, 0.175],
    ['gpt-5.3-codex-spark', 1.75, 14, 0.175],
    ['gpt-5.4-pro', 30, 180, 3],
    ['gpt-5.5-pro-2026-04-23', 30, 180, 3],
    ['gpt-6.1-sol', 2, 10, 0.1],
    ['gpt-6.2-sol', 2, 10, 0.1],
    ['gpt-5.5-codex', 5, 30, 0.5],
    ['gpt-5-codex-mini', 0.25, 2, 0.025],
    ['gemini-3-pro', 2, 12, 0.2],
    ['gemini-3-flash', 0.5, 3, 0.05],
    ['gemini-4-argon', 2, 10, 0.1],
    ['claude-haiku-5-5', 0.1, 0.5, 0.01],
    ['anthropic/claude-haiku-5.5', 0.1, 0.5, 0.01],
    ['claude-sonnet-5-5', 2, 10, 0.2],
    ['claude-sonnet-5-5[1m]', 2, 10, 0.2],
    ['claude-sonnet-5', 2, 10, 0.2],
    ['claude-mythos-5-1', 10, 50, 0.25],
    ['claude-fable-5.1', 10, 50, 0.25],
    ['mistral-large-latest', 0.5, 1.5, 0.05],
    ['mistral/devstral-medium-latest', 0.4, 2, 0.04],
    ['mistral-medium-3', 0.4, 2, 0.04],
    ['magistral-small-2509', 0.5, 1.5, 0.5],
    ['dashscope/qwen3.7-plus', 0.4, 1.6, 0.08],
    ['qwen3-max-2026-01-23', 1.2, 6, 1.2],
    ['moonshot/moonshot-v1-8k-0430', 0.2, 2, 0.2],
    ['kimi-latest', 2, 5, 0.15],
    ['claude-opus-4-5-20251101', 5, 25, 0.5],
    ['claude-opus-4-7', 5, 25, 0.5],
    ['claude-opus-4-1-20250805', 15, 75, 1.5],
    ['claude-fable-5', 10, 50, 1],
    ['claude-haiku-4-5-20251001', 1, 5, 0.1],
    ['claude-3-5-haiku-20241022', 0.8, 4, 0.08],
    ['gpt-5-codex', 1.25, 10, 0.125],
    ['gpt-5-mini', 0.25, 2, 0.025],
    ['gemini-2.5-flash', 0.3, 2.5, 0.03],
    ['claude-4.5-sonnet', 3, 15, 0.3],
    ['claude-4-5-sonnet', 3, 15, 0.3],
    ['anthropic/claude-4.6-opus', 5, 25, 0.5],
  ])('%s', async (model, input, output, cached) => {
    expect((await priceOf(model)).slice(0, 3)).toEqual([input, output, cached])
  })

  test('a price holds from its day on', async () => {
    const chat = async (at: string) => (await priceOf('deepseek-chat', at)).slice(0, 3)
    expect(await chat('2025-09-05T15:59:00Z')).toEqual([0.27, 1.1, 0.07])
    expect(await chat('2025-09-05T18:00:00+02:00')).toEqual([0.56, 1.68, 0.07])
    expect(await chat('2025-09-28T23:59:00Z')).toEqual([0.56, 1.68, 0.07])
    expect(await chat('2025-09-29T00:00:00Z')).toEqual([0.28, 0.42, 0.028])
  })

  // 2026-08-16, 08-22, 08-23 and 09-12 are a Sunday, a Saturday, a Sunday and a Saturday
  test.each([
    ['deepseek-chat', '2026-04-23T23:59:59Z', 0.28, 0.42, 0.028],
    ['deepseek-chat', '2026-04-24T02:00:00Z', 0.14, 0.28, 0.0028],
    ['deepseek-v4-flash', '2026-06-10T02:00:00Z', 0.14, 0.28, 0.0028],
    ['deepseek-v4-pro', '2026-06-10T09:59:00Z', 0.435, 0.87, 0.003625],
    ['deepseek-v4-flash', '2026-08-16T15:59:59Z', 0.14, 0.28, 0.0028],
    ['deepseek-v4-flash', '2026-08-16T16:00:00Z', 0.22, 0.66, 0.007],
    ['deepseek-v4-flash', '2026-08-17T01:00:00Z', 0.44, 1.32, 0.014],
    ['deepseek-v4-pro', '2026-08-17T03:59:59Z', 1.32, 3.96, 0.044],
    ['deepseek-v4-pro', '2026-08-17T04:00:00Z', 0.66, 1.98, 0.022],
    // the last Saturday with peak hours, and the first Sunday without
    ['deepseek-v4-flash', '2026-08-22T06:00:00Z', 0.44, 1.32, 0.014],
    ['deepseek-v4-flash', '2026-08-23T06:00:00Z', 0.22, 0.66, 0.007],
    // Monday, 01:30 in UTC; then 21:30 in UTC
    ['deepseek-reasoner', '2026-08-24T09:30:00+08:00', 0.44, 1.32, 0.014],
    ['deepseek-v4-flash', '2026-08-25T06:30:00+09:00', 0.22, 0.66, 0.007],
    ['deepseek-v4-flash', '2026-09-10T03:59:59Z', 0.44, 1.32, 0.014],
    ['deepseek-v4-flash', '2026-09-10T04:00:00Z', 0.15, 0.6, 0.003],
    ['deepseek-flash', '2026-09-11T09:59:59Z', 0.3, 1.2, 0.006],
    ['deepseek-v4-pro', '2026-09-12T02:00:00Z', 0.66, 1.98, 0.022],
  ])('%s at %s', async (model, at, input, output, cached) => {
    expect(await priceOf(model, at)).toEqual([input, output, cached, input])
  })

  test('two times with the same digits and another offset are two instants', async () => {
    const pricer = await loadPricer()
    const cost = (at: string) =>
      asDollars(pricer.cost({ model: 'deepseek-v4-pro', tokens: { output: MILLION }, at }) ?? -1n)
    expect(cost('2026-11-24T02:00:00Z')).toBe(3.96)
    expect(cost('2026-11-24T02:00:00-05:00')).toBe(3.96)
    expect(cost('2026-11-24T02:00:00+05:00')).toBe(1.98)
  })

  test('a name that moves on has the price of the model that it stood for', async () => {
    const latest = async (at: string) => (await priceOf('gemini-flash-latest', at)).slice(0, 3)
    expect(await latest('2025-12-01T00:00:00Z')).toEqual([0.3, 2.5, 0.03])
    expect(await latest('2026-02-01T00:00:00Z')).toEqual([0.5, 3, 0.05])
    expect(await latest('2026-06-01T00:00:00Z')).toEqual([1.5, 9, 0.15])
    expect(await latest('2026-11-01T00:00:00Z')).toEqual([0.75, 3.75, 0.075])
    expect((await priceOf('mistral-large-latest', '2025-06-01T00:00:00Z')).slice(0, 2)).toEqual([2, 6])
    const reads = async (at: string) => (await priceOf('claude-sonnet-5-5', at))[2]
    expect(await reads('2026-10-06T23:59:59Z')).toBe(0.2)
    expect(await reads('2026-10-07T00:00:00Z')).toBe(0.1)
  })

  test('cache writes cost what the vendor charges for them', async () => {
    const pricer = await loadPricer()
    const writes = (model: string) =>
      [0, MILLION].map((hour) => {
        const tokens = { cache_creation: MILLION, cache_creation_1h: hour }
        return asDollars(pricer.cost({ model, tokens, at: AT, aggregated: true }) ?? -1n)
      })
    expect(writes('claude-haiku-5-5')).toEqual([0.125, 0.2])
    expect(writes('claude-opus-4-5-20251101')).toEqual([6.25, 10])
    expect(writes('claude-opus-4-7')).toEqual([6.25, 10])
    expect(writes('claude-opus-4-1-20250805')).toEqual([18.75, 30])
    expect(writes('claude-fable-5')).toEqual([12.5, 20])
    expect(writes('claude-haiku-4-5-20251001')).toEqual([1.25, 2])
    expect(writes('claude-3-5-haiku-20241022')).toEqual([1, 1.6])
    expect(writes('claude-sonnet-5-5')).toEqual([2.5, 4])
    expect(writes('gpt-6.1-sol')[0]).toBe(2.5)
    expect(writes('glm-4.6')).toEqual([0.6, 0.6])
  })

  test('prompts above a limit cost more', async () => {
    const pricer = await loadPricer()
    const cost = (model: string, prompt: number) =>
      asDollars(pricer.cost({ model, tokens: { cache_read: prompt, output: MILLION }, at: AT }) ?? -1n)
    expect(cost('claude-haiku-5-5', 100_000)).toBe(0.501)
    expect(cost('claude-haiku-5-5', 100_001)).toBe(2.505)
    expect(cost('gpt-6.1-sol', 272_000)).toBe(10.0272)
    expect(cost('gpt-6.1-sol', 272_001)).toBe(15.0544)
  })

  test('a larger prompt has the price of its size', async () => {
    const pricer = await loadPricer()
    const cost = (input: number, aggregated = false) =>
      asDollars(pricer.cost({ model: 'qwen3-coder-plus', tokens: { input }, at: AT, aggregated }) ?? -1n)
    expect([cost(32_000), cost(32_001), cost(500_000)]).toEqual([0.032, 0.057602, 3])
    expect(cost(500_000, true)).toBe(0.5)
  })

  test('what nobody sells by this name has no price', async () => {
    for (const model of [
      '<synthetic>',
      'sonnet',
      'claude-9.9-sonnet',
      'glm-4',
      'qwen',
      'constructor',
      'gpt-5.9-codex',
      'gpt-5.3-codex-high',
      'claude-opus-4-5-thinking',
      // only the beginning is known
      'claude-opus-4-5-turbo',
      'claude-sonnet-5-6',
      'claude-sonnet-55',
      'claude-future-9-20270101',
      'gpt-5.2-codex-2',
      'gpt-6.1-sol-mini',
      'gemini-2.5-pro-ultra',
      'gemini-future-9',
      'gemini-flash-lite-latest',
      'kimi-k2.55',
      'mistral-large-2712',
      'deepseek-chat-v9',
      'someone/claude-opus-4-5',
      'xclaude-opus-4-5',
      'us.claude-opus-4-5',
      'sa.anthropic.claude-opus-4-5',
      'claude-opus-4-5:free',
      'gpt-5.2-1m',
      'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/claude-opus-4-5',
    ])
      expect(await priceOf(model)).toEqual([null, null, null, null])
  })

  test('a name that only begins like a known one has no price', async () => {
    const vendors = ['anthropic', 'openai', 'google', 'mistral', 'moonshotai', 'deepseek', 'x-ai', 'minimax']
    const ids = vendors.flatMap(
      (providerId) => findProvider({ providerId })?.models.map(({ id }) => id) ?? [],
    )
    expect(ids.length).toBeGreaterThan(200)
    const pricer = await loadPricer()
    const isPriced = (model: string) => pricer.cost({ model, tokens: { input: 1 }, at: AT }) !== undefined
    expect(ids.map((id) => `${id}-zz9`).filter(isPriced)).toEqual([])
  })

  test.each([
    ['anthropic.claude-haiku-4-5-20251001-v1:0', 1],
    ['bedrock/anthropic.claude-haiku-4-5-20251001-v1:0', 1],
    ['global.anthropic.claude-opus-5-5', 4],
    ['us.anthropic.claude-opus-5-5', 4.4],
    ['bedrock/eu.anthropic.claude-sonnet-4-6', 3.3],
    ['au.anthropic.claude-sonnet-4-5-20250929-v1:0', 3.3],
    ['jp.anthropic.claude-opus-4-6-v1', 5.5],
    ['apac.anthropic.claude-haiku-5-5', 0.11],
    ['us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0', 3.6],
    ['bedrock/us-gov-west-1/anthropic.claude-haiku-4-5-20251001-v1:0', 1.2],
    ['us.anthropic.claude-opus-4-1-20250805-v1:0', 15],
    ['us.anthropic.claude-sonnet-4-20250514-v1:0', 3],
    ['eu.anthropic.claude-3-7-sonnet-20250219-v1:0', 3],
    ['claude-opus-4-6@default', 5],
    ['vertex_ai/claude-opus-4@20250514', 15],
    ['azure/gpt-5.2-2025-12-11', 1.75],
    ['google/gemini-2.5-pro', 1.25],
    ['claude-3-5-haiku-latest', 0.8],
    ['amazon.nova-pro-v1:0', 0.8],
    [
      'arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0',
      3.3,
    ],
    [
      'arn:aws-us-gov:bedrock:us-gov-west-1:1:inference-profile/us-gov.anthropic.claude-sonnet-4-5-20250929-v1:0',
      3.6,
    ],
    ['arn:aws:bedrock:us-east-1::foundation-model/anthropic.claude-opus-4-6-v1', 5],
    ['bedrock/us-west-2/anthropic.claude-sonnet-4-20250514-v1:0', 3],
    ['bedrock/converse/us.anthropic.claude-opus-4-6-v1', 5.5],
    ['projects/p/locations/us-east5/publishers/google/models/gemini-2.5-pro', 1.25],
    ['publishers/anthropic/models/claude-opus-4-6@20260205', 5],
    ['models/gemini-2.5-pro', 1.25],
    ['claude-opus-4.6-1m', 5],
    ['anthropic/claude-3.7-sonnet:thinking', 3],
    ['github_copilot/claude-sonnet-4.5', 3],
    ['zai-org/GLM-4.6', 0.6],
    ['deepseek-ai/DeepSeek-V3.2', 0.28],
    ['MiniMaxAI/MiniMax-M2', 0.3],
  ])('%s is known by its form', async (model, input) => {
    expect((await priceOf(model))[0]).toBe(input)
  })

  test('a regional price is that of every kind of token', async () => {
    expect(await priceOf('us.anthropic.claude-sonnet-5-5', '2026-11-01T00:00:00Z')).toEqual([
      2.2, 11, 0.11, 2.75,
    ])
  })

  test('the operator’s prices come before them', async () => {
    const pricer = await loadPricer(parsePriceOverrides('{"glm-4.6":{"input":9,"output":9}}'))
    expect(asDollars(pricer.cost({ model: 'glm-4.6', tokens: { input: MILLION }, at: AT }) ?? -1n)).toBe(9)
  })
})

// LiteLLM's table, with models that its copy adds by itself: neither is part of this repository
const LITELLM = join(import.meta.dir, '../../../../shared/data/prices')
const isPresent = existsSync(LITELLM)
if (!isPresent) test.skip("prices against LiteLLM's: the shared data is not here", () => {})

/** Vendors of models that coding agents use. */
const VENDORS = [
  ...['anthropic', 'openai', 'deepseek', 'gemini', 'vertex_ai-language-models'],
  ...['moonshot', 'minimax', 'xai', 'bedrock'],
]
/** No models for code. */
const OTHER_USES =
  /image|audio|tts|live|realtime|search|robotics|computer-use|embedding|moderation|deep-research/
/** LiteLLM differs from the vendor's price list here, or its name moves on to other models. */
const DIFFERENT: Record<string, string> = {
  'deepseek-chat': 'the price before the name stood for V4 Flash',
  'deepseek-reasoner': 'the price before the name stood for V4 Flash',
  'gemini-2.0-flash-001': 'the price of Vertex AI; ours is that of the Gemini API',
  'gemini-2.0-flash-lite': 'a price for cached tokens that the vendor does not have',
  'gemini-2.0-flash-lite-001': 'a price for cached tokens that the vendor does not have',
  'gemini-2.5-flash-lite-preview-06-17': 'the price for cached tokens before it was lowered',
  'gemini-2.5-flash-preview-09-2025': 'the price for cached tokens before it was lowered',
  'gemini-3.6-flash': 'twice the price that the library has',
  'gemini-exp-1206': 'moves on',
  'gemini-flash-latest': 'the price of the model that it stood for until January 2026',
  'gemini-flash-lite-latest': 'moves on',
  'gemini-pro-latest': 'the price of the model that it stood for until January 2026',
}

test.skipIf(!isPresent)("prices agree with LiteLLM's, but for what is known to differ", async () => {
  const table: Record<string, Record<string, unknown>> = await Bun.file(
    join(LITELLM, 'model_prices_and_context_window.json'),
  ).json()
  const { aliases, custom_models } = await Bun.file(join(LITELLM, 'upstream-config.json')).json()
  const perMillion = (price: unknown) =>
    typeof price === 'number' ? Math.round(price * 1e12) / 1e6 : undefined
  const differing: string[] = []
  let compared = 0
  for (const [model, row] of Object.entries(table)) {
    const isOfCopy = model in aliases || model in custom_models
    const isSold = typeof row.input_cost_per_token === 'number' && row.input_cost_per_token > 0
    const isForCode = VENDORS.includes(String(row.litellm_provider)) && !OTHER_USES.test(model)
    if (isOfCopy || !isSold || !isForCode || !['chat', 'responses'].includes(String(row.mode))) continue
    const theirs = [
      perMillion(row.input_cost_per_token),
      perMillion(row.output_cost_per_token),
      perMillion(row.cache_read_input_token_cost),
      // a write that costs nothing counts as input
      row.cache_creation_input_token_cost === 0 ? undefined : perMillion(row.cache_creation_input_token_cost),
    ]
    const ours = await priceOf(model)
    compared += 1
    if (theirs.some((price, index) => price !== undefined && price !== ours[index])) differing.push(model)
  }
  expect(differing.sort()).toEqual(Object.keys(DIFFERENT).sort())
  expect(compared).toBeGreaterThan(100)
})
