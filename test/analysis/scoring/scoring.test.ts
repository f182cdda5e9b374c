import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { SessionRecord } from '../../../src/analysis/records/session.ts'
import { asDollars, loadPricer, priceRecord } from '../../../src/analysis/scoring/prices.ts'
import { reportedQuality, scoreQuality, signalsOfRecord } from '../../../src/analysis/scoring/quality.ts'
import { parsePriceOverrides } from '../../../src/base/model-prices.ts'
import { sessionRecord } from '../../support/records.ts'

const GOOD = {
  toolResults: 50,
  toolErrors: 0,
  prompts: 4,
  rejections: 0,
  interruptions: 0,
  edits: 3,
  filesEdited: 3,
  apiErrors: 0,
  compactions: 0,
  endedWell: true,
}
const session = (fields: Partial<SessionRecord>): SessionRecord =>
  sessionRecord('sess_1', { project_name: 'p', created_at: '2026-02-01T00:00:00Z', ...fields })

describe('quality', () => {
  const count = fc.nat({ max: 5_000 })
  const signals = fc.record({
    toolResults: count,
    toolErrors: count,
    prompts: count,
    rejections: count,
    interruptions: count,
    edits: count,
    filesEdited: count,
    apiErrors: count,
    compactions: count,
    endedWell: fc.boolean(),
  })

  test('base and points equal the score in hundredths, whatever the signals', () => {
    fc.assert(
      fc.property(signals, (given) => {
        const { score, base, factors, breakdown } = scoreQuality(given)
        const sum = factors.reduce((total, { points }) => total + Math.round(points * 100), base * 100)
        const byCategory = Object.values(breakdown).reduce(
          (total, points) => total + Math.round(points * 100),
          base * 100,
        )
        expect(Math.round(score * 100)).toBe(Math.max(0, Math.min(10_000, sum)))
        expect(byCategory).toBe(sum)
        expect(score).toBeGreaterThanOrEqual(0)
        expect(score).toBeLessThanOrEqual(100)
        expect(factors).toHaveLength(8)
        for (const { points } of factors) expect(Math.round(points * 100) / 100).toBe(points)
      }),
    )
  })

  test('a session without signals has the base score', () => {
    expect(scoreQuality({ ...GOOD, toolResults: 0 }).score).toBe(75)
  })

  test('with many results and no penalties the score is near 100, with all penalties 0', () => {
    expect(scoreQuality({ ...GOOD, toolResults: 1_000_000 }).score).toBe(100)
    const worst = {
      ...GOOD,
      toolResults: 1_000_000,
      toolErrors: 500_000,
      rejections: 9,
      interruptions: 9,
      edits: 99,
      apiErrors: 1,
      compactions: 9,
      endedWell: false,
    }
    expect(scoreQuality(worst).score).toBe(0)
  })

  test('each penalty has its weight at full strength', () => {
    const weights = Object.fromEntries(scoreQuality(GOOD).factors.map(({ name, weight }) => [name, weight]))
    expect(weights).toEqual({
      tool_errors: -22.5,
      rejections: -15,
      interruptions: -11.25,
      rework: -15,
      api_errors: -7.5,
      compactions: -3.75,
      outcome: 10,
      clean_tool_use: 15,
    })
  })

  test('the error rate at the measured median leaves no bonus for clean tools', () => {
    const points = (toolErrors: number) =>
      scoreQuality({ ...GOOD, toolResults: 1000, toolErrors }).factors.at(-1)?.points ?? Number.NaN
    expect(points(37)).toBe(0)
    expect(points(0)).toBe(14.93)
  })

  test('a reported score keeps the sum', () => {
    expect(reportedQuality(82.35)).toEqual({
      score: 82.35,
      base: 75,
      factors: [{ name: 'reported', category: 'reported', count: 1, weight: 7.35, points: 7.35 }],
      breakdown: { reported: 7.35 },
    })
  })

  test('signals of a record come from its turns, else from its tools', () => {
    const calls = [
      { name: 'Edit', ok: true },
      { name: 'Edit', ok: false },
      { name: 'Bash', ok: null },
    ]
    const turns = [{ role: 'user' as const }, { role: 'assistant' as const, tool_calls: calls }]
    // each a number of its own, so that none stands for another
    const seen = { rejection: 2, interruption: 3, api_error: 4, compaction: 5, decision: 6 }
    const observations = Object.entries(seen).flatMap(([type, count]) =>
      Array.from({ length: count }, () => ({ type, title: type })),
    )
    const tools = [
      { name: 'Bash', calls: 8, errors: 2 },
      { name: 'write', calls: 3, errors: 1 },
      // no more failed than were called
      { name: 'edit', calls: 1, errors: 9 },
    ]
    expect(
      signalsOfRecord(
        session({ turn_records: turns, files_touched: ['a', 'b'], tools_used: tools, observations }),
      ),
    ).toEqual({
      ...{ toolResults: 2, toolErrors: 1, prompts: 1, edits: 1, filesEdited: 1, endedWell: false },
      ...{ rejections: 2, interruptions: 3, apiErrors: 4, compactions: 5 },
    })
    const none = { rejections: 0, interruptions: 0, apiErrors: 0, compactions: 0, endedWell: false }
    expect(signalsOfRecord(session({ tools_used: tools, files_touched: ['a'] }))).toEqual({
      ...{ toolResults: 12, toolErrors: 4, prompts: 0, edits: 2, filesEdited: 1, ...none },
    })
    expect(signalsOfRecord(session({ tools_used: tools }))).toMatchObject({ edits: 2, filesEdited: 0 })
  })
})

describe('prices', () => {
  const MILLION = 1_000_000
  const at = '2026-07-24T00:00:00.000Z'
  test('a prompt above 200k tokens has the higher price for all tokens; a sum of messages is not one prompt', async () => {
    const pricer = await loadPricer()
    const tokens = { input: 100_000, cache_read: 100_001, output: 1000 }
    const question = { model: 'claude-sonnet-4-5-20250929', tokens, at: '2026-02-01T00:00:00Z' }
    expect(asDollars(pricer.cost(question) ?? -1n)).toBe(0.682501)
    expect(asDollars(pricer.cost({ ...question, aggregated: true }) ?? -1n)).toBe(0.345)
  })

  test('sums are exact and rounded half up only at the end', async () => {
    const pricer = await loadPricer()
    const one = pricer.cost({ model: 'gpt-5-mini', tokens: { cache_read: 1 }, at }) ?? -1n
    expect(one).toBe(25_000n)
    expect(asDollars(one * 20n)).toBe(0.000001)
    expect(asDollars(one * 19n)).toBe(0)
  })

  test.each([
    ['{', 'not JSON'],
    ['[]', 'an object of models'],
    ['{"m":1}', '"m" must be'],
    ['{"m":{"input":1}}', 'needs input and output'],
    ['{"m":{"input":-1,"output":1}}', '"m".input'],
    ['{"m":{"input":1,"output":1,"cach_read":1}}', 'unknown price "cach_read"'],
  ])('a wrong price file is refused: %s', (text, message) => {
    expect(() => parsePriceOverrides(text)).toThrow(message)
  })

  test('a record is priced by its turns, else by its totals, and unknown models are named', async () => {
    const pricer = await loadPricer()
    const turns = [
      { model: 'claude-haiku-4-5', tokens: { input: 1000, output: 100 } },
      { model: 'mystery', tokens: { input: 5 } },
      { cost: 0.25 },
    ]
    expect(priceRecord(pricer, session({ turn_records: turns }))).toEqual({
      cost: 0.2515,
      turnCosts: [0.0015, null, 0.25],
      unpricedTokens: 5,
      unpriced: ['mystery'],
    })
    const tokens = { input: MILLION, output: 0 }
    expect(priceRecord(pricer, session({ model: 'claude-sonnet-4-5', tokens }))).toEqual({
      cost: 3,
      turnCosts: [],
      unpricedTokens: 0,
      unpriced: [],
    })
    expect(priceRecord(pricer, session({ tokens }))).toEqual({
      cost: 0,
      turnCosts: [],
      unpricedTokens: MILLION,
      unpriced: ['unknown'],
    })
  })
})
