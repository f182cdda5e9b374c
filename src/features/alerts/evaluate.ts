// Evaluates an alert without a database: states, notices, next look. Windows (days, weeks, months) are named by their first
// day.

import { addDays, addMonths, dayOf, hourOf, mondayOf, monthOf } from '../../base/dates.ts'
import type { Alert, State, Watched } from './model.ts'

type Window = Alert['window']

/** The windows whose median is the usual value. */
export const WINDOWS_BEFORE = 14

/** The time of a look, and the time zone of its days. */
export interface Clock {
  now: Date
  zone: string
}

/** The first day of the window `count` windows after that of `today`; before it when negative. */
export function windowAt(window: Window, today: string, count = 0): string {
  if (window === 'month') return addMonths(monthOf(today), count)
  return window === 'week' ? addDays(mondayOf(today), 7 * count) : addDays(today, count)
}

/** The end of the day: windows end then, and forecasts change. */
const endOfDay = ({ now, zone }: Clock): Date => hourOf(addDays(dayOf(now, zone), 1), 0, zone)

/** The middle value, the mean of the two where there are as many on both sides; 0 of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length / 2
  const [low = 0, high = low] = [sorted[Math.ceil(half) - 1], sorted[Math.floor(half)]]
  return (low + high) / 2
}

/** The state of one key; times in milliseconds since 1970. */
export interface KeyState {
  state: State
  since: number
  value: number | null
  /** When it was last told of; null: never. */
  told: number | null
}

/** The states of an alert by key: '' of one without `each`, and for what has none. */
export type States = Readonly<Record<string, KeyState>>

/** The value of the window that is now, and of those before it where they are needed; null: no data. */
export type Series = readonly [now: number | null, ...before: (number | null)[]]

export interface KeyNotice {
  key: string
  state: State
  value: number | null
  threshold: number
}

const DECIMALS = 1e6
export const rounded = (value: number): number => Math.round(value * DECIMALS) / DECIMALS

/** Compares the value of now with the threshold; `value` is null where there is no data. */
export function compare({ above, below, times }: Watched, [value, ...before]: Series) {
  if (times !== undefined) {
    const usual = median(before.map((each) => each ?? 0))
    const threshold = rounded(times * usual)
    return { threshold, value: usual === 0 ? null : value, isBeyond: (value ?? 0) > threshold }
  }
  const threshold = above ?? below ?? 0
  return {
    threshold,
    value,
    isBeyond: above === undefined ? (value ?? 0) < threshold : (value ?? 0) > threshold,
  }
}

/**
 * The states after a look at `now`, which keys are told of, and when the alert must be looked at again although no figure has
 * changed. `series` has the keys that have figures; any other that was known has `empty`. A key
 * that is new is ok `since` then.
 */
export function evaluate(
  watched: Watched,
  previous: States,
  { series, empty, since }: { series: ReadonlyMap<string, Series>; empty: number | null; since?: Date },
  clock: Clock,
): { states: States; notices: KeyNotice[]; due: Date } {
  const { now } = clock
  const at = now.getTime()
  const repeatMs = (watched.renotify_minutes ?? Infinity) * 60_000
  const states: [string, KeyState][] = []
  const events: KeyNotice[] = []
  let due = endOfDay(clock).getTime()
  const before = new Map(Object.entries(previous))
  for (const key of new Set([...before.keys(), ...series.keys()])) {
    const { threshold, value, isBeyond } = compare(watched, series.get(key) ?? [empty])
    const state: State =
      value === null ? (watched.no_data === 'fire' ? 'no_data' : 'ok') : isBeyond ? 'firing' : 'ok'
    const last = before.get(key) ?? { state: 'ok', since: (since ?? now).getTime(), told: null }
    const isChanged = state !== last.state
    const isRepeated = state !== 'ok' && at - (last.told ?? at) >= repeatMs
    // that a figure ended is no news where it need not be there
    const hasNotice = isRepeated || (isChanged && (state !== 'ok' || value !== null))
    if (hasNotice) events.push({ key, state, value, threshold })
    const isGone = !series.has(key) && state === 'ok'
    // a key that is gone may still fall below a threshold, or miss data, in another window
    if (isGone && watched.below === undefined && watched.no_data === 'ok') continue
    const next = { state, since: isChanged ? at : last.since, value, told: hasNotice ? at : last.told }
    states.push([key, next])
    if (state !== 'ok') due = Math.min(due, (next.told ?? at) + repeatMs)
  }
  return { states: Object.fromEntries(states), notices: events, due: new Date(due) }
}

const PLACES: Record<State, number> = { firing: 0, no_data: 1, ok: 2 }

const shown = ({ state, since, value }: KeyState) => ({
  ...{ state, since: new Date(since).toISOString(), last_value: value },
})

/** The states as the API shows them: those that fire first, then by key. */
export const keysOf = (states: States): NonNullable<Alert['keys']> =>
  Object.entries(states)
    .toSorted(([a, { state: of }], [b, { state: than }]) => PLACES[of] - PLACES[than] || (a < b ? -1 : 1))
    .map(([key, state]) => ({ key: key === '' ? null : key, ...shown(state) }))

/** The state of all keys together: the worst, its beginning, and the value that is furthest beyond the threshold. */
export function ruleState({ below }: Watched, states: States, createdAt: Date) {
  const keys = Object.values(states).toSorted(
    (a, b) => PLACES[a.state] - PLACES[b.state] || a.since - b.since,
  )
  // all are ok since the last of them is
  const first = keys[0]?.state === 'ok' ? keys.at(-1) : keys[0]
  if (first === undefined) return shown({ state: 'ok', since: createdAt.getTime(), value: null, told: null })
  const values = keys.flatMap(({ value }) => value ?? [])
  const value = values.length === 0 ? null : below === undefined ? Math.max(...values) : Math.min(...values)
  return shown({ ...first, value })
}
