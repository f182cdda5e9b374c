import { describe, expect, test } from 'bun:test'
import { createLineOwners } from '../../../../src/analysis/agents/transcript/line-owners.ts'
import type { SessionRecord } from '../../../../src/analysis/records/session.ts'
import { agentFiles, lines } from '../reading.ts'

// Logs of `claude -p` whose totals go on from those of an earlier run, or of the session that was forked.

const { read, readOne, write } = agentFiles()

const MODEL = 'claude-opus-4-5'
type Tokens = readonly [input: number, output: number, read: number, creation: number]
const usageOf = ([
  input_tokens,
  output_tokens,
  cache_read_input_tokens,
  cache_creation_input_tokens,
]: Tokens) => ({
  ...{ input_tokens, output_tokens, cache_read_input_tokens, cache_creation_input_tokens },
})
const totalOf = ([inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens]: Tokens) => ({
  ...{ inputTokens, outputTokens, cacheReadInputTokens, cacheCreationInputTokens },
})
const plus = (a: Tokens, b: Tokens): Tokens => [a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3]]

/** A run's log: what it used, and its totals by model. */
const log = (session_id: string, own: Tokens, modelUsage: object, more: object = {}) =>
  lines([
    { type: 'system', subtype: 'init', session_id, tools: [], model: MODEL },
    {
      ...{ type: 'assistant', session_id, uuid: `${session_id} ${own}` },
      message: { id: `msg_${session_id}_${own}`, model: MODEL, content: [], usage: usageOf(own) },
    },
    {
      ...{ type: 'result', subtype: 'success', session_id, uuid: `r ${session_id} ${own}`, num_turns: 1 },
      ...{ usage: usageOf(own), total_cost_usd: 1, modelUsage },
      ...more,
    },
  ])
const goingOn = (session: string, own: Tokens, before: Tokens, more: object = {}) =>
  log(session, own, { [MODEL]: totalOf(plus(own, before)) }, more)

const NONE: Tokens = [0, 0, 0, 0]
const [FIRST, SECOND, FORKED, LAST]: Tokens[] = [
  [1_000, 100, 10, 1],
  [2_000, 200, 20, 2],
  [4_000, 400, 40, 4],
  [8_000, 800, 80, 8],
] as const as Tokens[]
if (!FIRST || !SECOND || !FORKED || !LAST) throw new Error('no tokens')
const PARENT = plus(FIRST, SECOND)
const parent = { first: goingOn('p', FIRST, NONE), second: goingOn('p', SECOND, FIRST) }

const tokensOf = (records: readonly SessionRecord[]): object =>
  Object.fromEntries(
    records.map(({ id, tokens }) => [
      id.slice(5),
      [tokens?.input, tokens?.output, tokens?.cache_read, tokens?.cache_creation],
    ]),
  )

describe.each<[string, object]>([
  ['usage alone tells what a run used', {}],
  ['newer versions state it', { model_usage_since_last_result: { [MODEL]: totalOf(FORKED) } }],
])('%s', (_version, more) => {
  const fork = goingOn('f', FORKED, PARENT, more)
  const again = goingOn('f', LAST, plus(FORKED, PARENT))
  const expected = { p: PARENT, f: plus(FORKED, LAST) }

  test.each([
    ['after', ['a', 'b', 'c', 'd']],
    ['before', ['c', 'd', 'a', 'b']],
    ['among', ['b', 'c', 'a', 'd']],
  ])('a fork’s log %s its parent’s has no part of it', async (_order, [a, b, c, d]) => {
    const files = {
      ...{ [`${a}.jsonl`]: parent.first, [`${b}.jsonl`]: parent.second },
      ...{ [`${c}.jsonl`]: fork, [`${d}.jsonl`]: again },
    }
    expect(tokensOf((await read(files)).records)).toEqual(expected)
  })

  test('the parent was read in an earlier run, or is in a later one', async () => {
    const owners = createLineOwners()
    const options = { owners }
    const alone = await read({ 'c.jsonl': fork }, options)
    // nothing says yet that it is a fork
    expect(tokensOf(alone.records)).toEqual({ f: plus(FORKED, PARENT) })
    expect(alone.results.map(({ isOpen }) => isOpen)).toEqual([true])
    expect(
      tokensOf((await read({ 'a.jsonl': parent.first, 'b.jsonl': parent.second }, options)).records),
    ).toEqual({
      p: PARENT,
    })
    const later = await read({ 'c.jsonl': fork }, options)
    expect(tokensOf(later.records)).toEqual({ f: FORKED })
    expect(later.results.map(({ isOpen }) => isOpen)).toEqual([false])
  })

  test('totals in a transcript of the parent tell too', async () => {
    const stated = { type: 'cost-state', sessionId: 'p', modelUsage: { [MODEL]: totalOf(PARENT) } }
    const at = '2026-06-01T08:00:00.000Z'
    const prompt = { type: 'user', sessionId: 'p', uuid: 'u', timestamp: at, message: { content: 'x' } }
    const { records } = await read({ 'z.jsonl': lines([prompt, stated]), 'a.jsonl': fork })
    expect(tokensOf(records)).toEqual({ p: PARENT, f: FORKED })
  })
})

test('a run that goes on from one whose log is gone has all that its session used', async () => {
  const folder = await write({ 'a.jsonl': parent.second })
  for (const _again of [1, 2]) {
    const { records, results } = await read(folder)
    expect(tokensOf(records)).toEqual({ p: PARENT })
    expect(results[0]?.isOpen).toBe(true)
  }
})

test('runs with side calls of another model add up, whose totals do not go on', async () => {
  const side: Tokens = [70, 7, 0, 0]
  const usage = (own: Tokens) => ({ [MODEL]: totalOf(own), 'claude-haiku-4-5': totalOf(side) })
  const record = await readOne({
    'a.jsonl': log('p', FIRST, usage(FIRST)),
    'b.jsonl': log('p', SECOND, usage(SECOND)),
  })
  expect(tokensOf([record])).toEqual({ p: plus(PARENT, plus(side, side)) })
})
