import { expect, test } from 'bun:test'
import { withEachCallOnce } from '../../../src/analysis/fragments/telemetry-and-transcripts.ts'
import { fragmentId, newCall, type TurnFragment } from '../../../src/analysis/records/fragments.ts'
import { answerPart, emptyParts } from './parts.ts'

// Calls of transcripts and of telemetry: which of them are the same one.

const AT = '2026-05-01T08:00:00.000Z'
const TIMES = { from: AT, to: AT }
const PARTS = { ...emptyParts(TIMES), telemetry: TIMES }
const turn = (id: string, tokens: number[] | null, more: Partial<TurnFragment> = {}): TurnFragment =>
  answerPart(id, {
    tokens: tokens === null ? null : [tokens[0] ?? 0, tokens[1] ?? 0, tokens[2] ?? 0, tokens[3] ?? 0, 0],
    ...more,
  })
const told = (id: string, tokens: number[] | null, more: Partial<TurnFragment> = {}) =>
  turn(id, tokens, { telemetry: true, ...more })
const kept = (...turns: TurnFragment[]) => withEachCallOnce({ ...PARTS, turns }).turns.map(({ id }) => id)

const SAME = [100, 10, 5, 1]

test('a call is the same by its id, whatever its tokens', () => {
  expect(kept(turn('a', [1], { request: 'r1' }), told('t', SAME, { request: 'r1' }))).toEqual(['a'])
  expect(kept(turn('a', SAME, { request: 'r1' }), told('t', SAME, { request: 'r2' }))).toEqual(['a', 't'])
})

test('where one of both has no id, each call stands for one with the same tokens', () => {
  expect(kept(turn('a', SAME), told('t', SAME, { request: 'r1' }))).toEqual(['a'])
  expect(kept(turn('a', SAME, { request: 'r1' }), told('t', SAME))).toEqual(['a'])
  expect(kept(turn('a', SAME), told('t', SAME))).toEqual(['a'])
  expect(kept(turn('a', SAME), told('t', SAME), told('u', SAME))).toEqual(['a', 'u'])
  expect(kept(turn('a', SAME), turn('b', SAME), told('t', SAME), told('u', SAME))).toEqual(['a', 'b'])
  for (const kind of [0, 1, 2, 3])
    expect(
      kept(
        turn('a', SAME),
        told(
          't',
          SAME.map((count, each) => count + Number(each === kind)),
        ),
      ),
    ).toEqual([...['a', 't']])
})

test('a call that is another one by its id stands for none beside it', () => {
  const own = turn('a', SAME, { request: 'r1' })
  expect(kept(own, told('t', SAME, { request: 'r1' }), told('u', SAME))).toEqual(['a', 'u'])
  const other = told('u', SAME, { request: 'r2' })
  expect(kept(own, turn('b', SAME), told('t', SAME), other)).toEqual(['a', 'b', 'u'])
})

test('kinds that telemetry does not say are not compared, and a call stands for one in any case', () => {
  const lacking = told('t', [100, 10, 5, 0], { lacks: [3] })
  expect(kept(turn('a', SAME), lacking)).toEqual(['a'])
  expect(kept(turn('a', SAME), told('t', [100, 10, 6, 0], { lacks: [3] }))).toEqual(['a', 't'])
  expect(kept(turn('a', SAME), lacking, told('u', SAME))).toEqual(['a', 'u'])
  expect(kept(turn('a', SAME), told('u', SAME), lacking)).toEqual(['a', 't'])
  expect(kept(turn('a', SAME), turn('b', SAME), lacking, told('u', SAME))).toEqual(['a', 'b'])
})

test('a call without counts is of nobody', () => {
  expect(kept(turn('a', null), told('t', null))).toEqual(['a', 't'])
})

test('what `codex exec --json` says of a thread counts only where its rollout is not known', () => {
  const exec = turn(fragmentId('assistant turn 1'), SAME, { model: null })
  const event = { type: 'api_error' as const, at: null, turn: null }
  const events = ['api_error turn 1', 'other'].map((key) => ({ ...event, id: fragmentId(key) }))
  const call = { ...newCall(fragmentId('1 item_0')), turn: exec.id }
  const of = (...turns: TurnFragment[]) => {
    const once = withEachCallOnce({ ...PARTS, agent: 'codex', turns, events, calls: [call] })
    return [once.turns.map(({ id }) => id), once.calls.length, once.events.length]
  }
  expect(of(exec)).toEqual([[exec.id], 1, 2])
  expect(of(exec, told('t', [1]))).toEqual([[exec.id, 't'], 1, 2])
  expect(of(exec, turn('a', SAME))).toEqual([['a'], 0, 1])
})
