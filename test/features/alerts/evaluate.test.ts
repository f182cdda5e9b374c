import { describe, expect, test } from 'bun:test'
import { UTC } from '../../../src/base/dates.ts'
import { isInTime, nextHour, weekBefore } from '../../../src/features/alerts/digest-model.ts'
import {
  evaluate,
  type KeyState,
  keysOf,
  median,
  ruleState,
  type Series,
  type States,
  windowAt,
} from '../../../src/features/alerts/evaluate.ts'
import type { Watched } from '../../../src/features/alerts/model.ts'

// Windows, medians, states and hours by tables.

const at = (text: string) => new Date(`${text}Z`)

test.each([
  ['day', '2026-03-01T00:00', 0, '2026-03-01'],
  ['day', '2026-02-28T23:59:59.999', 1, '2026-03-01'],
  ['day', '2028-03-01T12:00', -1, '2028-02-29'],
  ['week', '2026-03-01T23:59', 0, '2026-02-23'], // a Sunday
  ['week', '2026-03-02T00:00', 0, '2026-03-02'],
  ['week', '2026-01-01T08:00', 0, '2025-12-29'],
  ['week', '2026-01-01T08:00', -14, '2025-09-22'],
  ['month', '2026-03-31T23:59', 0, '2026-03-01'],
  ['month', '2026-03-31T23:59', 1, '2026-04-01'],
  ['month', '2026-03-31T23:59', -14, '2025-01-01'],
] as const)('the %s of %s, %d windows on, begins on %s', (window, now, count, day) => {
  expect(windowAt(window, now.slice(0, 10), count)).toBe(day)
})

test.each([
  [[], 0],
  [[5], 5],
  [[9, 1], 5],
  [[3, 1, 2], 2],
  [[0, 0, 0, 0, 0, 0, 0, 1, 9, 9, 9, 9, 9, 9], 0.5],
])('the median of %j is %d', (values, wanted) => expect(median(values)).toBe(wanted))

const NOW = at('2026-11-11T12:00')
const MINUTE = 60_000
const watched = (over: Partial<Watched> = {}): Watched => ({
  ...{ metric: 'cost', scope: {}, each: null, window: 'day', no_data: 'ok', renotify_minutes: null },
  ...(over.below === undefined && over.times === undefined ? { above: 100 } : {}),
  ...over,
})
const state = (over: Partial<KeyState> = {}): KeyState => ({
  ...{ state: 'ok', since: 0, value: 1, told: null },
  ...over,
})
const FIRING = state({ state: 'firing', told: NOW.getTime() - 10 * MINUTE })
const look = (rule: Watched, known: States, series: Record<string, Series>, empty: number | null = 0) =>
  evaluate(
    rule,
    known,
    { series: new Map(Object.entries(series)), empty, since: NOW },
    { now: NOW, zone: UTC },
  )

describe('a look', () => {
  const noData = watched({ no_data: 'fire' })
  const often = watched({ renotify_minutes: 10 })
  const times = watched({ times: 3 })
  const usual = (value: number, median: number): Series => [value, ...Array(14).fill(median)]
  test.each<[string, Watched, KeyState | undefined, Series, string, [string, number | null, number][]]>([
    ['above fires', watched(), undefined, [100.01], 'firing', [['firing', 100.01, 100]]],
    ['exactly at the threshold is not above', watched(), undefined, [100], 'ok', []],
    ['below fires', watched({ below: 5 }), undefined, [4.99], 'firing', [['firing', 4.99, 5]]],
    ['exactly at it is not below', watched({ below: 5 }), undefined, [5], 'ok', []],
    ['what fires is told once', watched(), FIRING, [200], 'firing', []],
    ['its end is told', watched(), FIRING, [100], 'ok', [['ok', 100, 100]]],
    ['and told again when it is time', often, FIRING, [200], 'firing', [['firing', 200, 100]]],
    ['not before', watched({ renotify_minutes: 11 }), FIRING, [200], 'firing', []],
    ['ok is not told again', often, state({ told: 0 }), [1], 'ok', []],
    ['no data is ok', watched(), undefined, [null], 'ok', []],
    ['a figure that ends is no news', watched(), FIRING, [null], 'ok', []],
    ['or fires, where it says so', noData, undefined, [null], 'no_data', [['no_data', null, 100]]],
    ['from firing, too', noData, FIRING, [null], 'no_data', [['no_data', null, 100]]],
    ['data again', noData, state({ state: 'no_data', told: 0 }), [1], 'ok', [['ok', 1, 100]]],
    ['three times the median', times, undefined, usual(9, 3), 'ok', []],
    ['more than that', times, undefined, usual(9.01, 3), 'firing', [['firing', 9.01, 9]]],
    ['a median of nothing is no data', times, undefined, usual(9, 0), 'ok', []],
    [
      'empty windows count',
      times,
      undefined,
      [9, ...Array(7).fill(0), ...Array(7).fill(4)],
      'firing',
      [['firing', 9, 6]],
    ],
  ])('%s', (_what, rule, known, values, wanted, told) => {
    const seen = look(rule, known === undefined ? {} : { '': known }, { '': values })
    expect(seen.states['']?.state).toBe(wanted as never)
    expect(seen.notices.map((one) => [one.state, one.value, one.threshold])).toEqual(told as never)
  })

  test('keeps since and told while nothing changes, and is due at the end of the day or when it is told again', () => {
    const same = look(watched(), { '': FIRING }, { '': [300] })
    expect(same.states).toEqual({ '': { ...FIRING, value: 300 } })
    expect(same.due).toEqual(at('2026-11-12T00:00'))
    const again = look(watched({ renotify_minutes: 15 }), { '': FIRING }, { '': [300] })
    expect(again.due.getTime()).toBe(NOW.getTime() + 5 * MINUTE)
  })

  test('has a state for each key; those that are gone are resolved and forgotten', () => {
    const each = watched({ each: 'project' })
    const first = look(each, {}, { shop: [150], web: [20], ['__proto__']: [101], '': [500] })
    expect(first.notices.map(({ key }) => key).toSorted()).toEqual(['', '__proto__', 'shop'])
    const later = evaluate(
      each,
      JSON.parse(JSON.stringify(first.states)),
      { series: new Map([['web', [30]]]), empty: 0, since: NOW },
      { now: NOW, zone: UTC },
    )
    expect(later.notices).toHaveLength(3)
    expect(later.notices.every(({ state: now, value }) => now === 'ok' && value === 0)).toBe(true)
    expect(Object.keys(later.states)).toEqual(['web'])
    // a key without sessions may be below
    const low = look(watched({ each: 'project', below: 10 }), { shop: state() }, {})
    expect(low.notices).toEqual([{ key: 'shop', state: 'firing', value: 0, threshold: 10 }])
  })
})

test('the whole has the worst state of its keys, and they are listed by it', () => {
  const states = {
    a: state({ since: 5, value: 7 }),
    b: state({ state: 'firing', since: 3, value: 120 }),
    c: state({ state: 'firing', since: 2, value: 110 }),
    '': state({ state: 'no_data', since: 1, value: null }),
  }
  const time = (ms: number) => new Date(ms).toISOString()
  expect(ruleState(watched(), states, NOW)).toEqual({ state: 'firing', since: time(2), last_value: 120 })
  expect(ruleState(watched({ below: 8 }), states, NOW).last_value).toBe(7)
  expect(ruleState(watched(), {}, NOW)).toEqual({ state: 'ok', since: NOW.toISOString(), last_value: null })
  expect(keysOf(states).map(({ key, state: of }) => [key, of])).toEqual([
    ...[
      ['b', 'firing'],
      ['c', 'firing'],
      [null, 'no_data'],
      ['a', 'ok'],
    ],
  ] as never)
})

test.each([
  ['2026-11-09T07:59', '2026-11-09T08:00'], // a Monday
  ['2026-11-09T08:00', '2026-11-16T08:00'],
  ['2026-11-11T12:00', '2026-11-16T08:00'],
  ['2026-12-31T12:00', '2027-01-04T08:00'],
])('after %s a digest of Monday, 8, is sent at %s', (now, next) => {
  expect(nextHour({ weekday: 'monday', hour: 8 }, at(now), UTC)).toEqual(at(next))
})

test.each([
  ['Europe/Berlin', '2026-11-09T06:59', '2026-11-09T07:00'],
  ['Europe/Berlin', '2026-11-09T07:00', '2026-11-16T07:00'],
  // a Monday begins in Kolkata when it is Sunday in UTC
  ['Asia/Kolkata', '2026-11-08T20:00', '2026-11-09T02:30'],
  ['America/New_York', '2026-11-09T02:00', '2026-11-09T13:00'],
])('in %s, after %s a digest of Monday, 8, is sent at %s', (zone, now, next) => {
  expect(nextHour({ weekday: 'monday', hour: 8 }, at(now), zone)).toEqual(at(next))
})

test.each([
  ['2026-03-28T12:00', '2026-03-29T01:00'], // 2 is skipped
  ['2026-10-24T12:00', '2026-10-25T00:00'], // 2 comes twice
])('in Berlin, after %s a digest of Sunday, 2, is sent at %s', (now, next) => {
  expect(nextHour({ weekday: 'sunday', hour: 2 }, at(now), 'Europe/Berlin')).toEqual(at(next))
})

test('a digest is of the seven days before its day, and made up for within 12 hours', () => {
  expect(weekBefore('2026-11-09')).toEqual({ from: '2026-11-02', to: '2026-11-08' })
  expect(isInTime(at('2026-11-09T08:00'), at('2026-11-09T20:00'))).toBe(true)
  expect(isInTime(at('2026-11-09T08:00'), at('2026-11-09T20:00:00.001'))).toBe(false)
})
