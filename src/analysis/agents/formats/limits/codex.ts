// Reads the limits of a ChatGPT plan, which Codex states with each `token_count`.

import { timeOf } from '../../transcript/contents.ts'
import { isObject, type Json, objectOf, textOf } from '../../transcript/json.ts'
import type { Limits, StatedLimit } from '../../transcript/stated-limits.ts'

/** Windows by their minutes, which versions round otherwise; never by their place. */
const WINDOWS: readonly (readonly [minutes: number, limit: string])[] = [
  [300, 'five_hour'],
  [10_080, 'week'],
]
const NEAR_MINUTES = 5
/** A window as long as this is one of a month. */
const MONTH_MINUTES = 40_000

function limitOf(minutes: unknown): string | null {
  if (typeof minutes !== 'number' || !(minutes > 0)) return null
  const [, limit] = WINDOWS.find(([length]) => Math.abs(minutes - length) <= NEAR_MINUTES) ?? []
  return limit ?? (minutes >= MONTH_MINUTES ? 'month' : `${minutes}_minutes`)
}

/** Notes the windows of `rate_limits`, also in the flat form of older versions, and returns them. */
export function noteLimits(limits: Limits, stated: Json, at: string): StatedLimit[] {
  const id = textOf(stated.limit_id)
  const isReached = textOf(stated.rate_limit_reached_type) !== null
  const hasCredits = objectOf(stated.credits).has_credits === true
  const windows = ['primary', 'secondary'].flatMap((slot): StatedLimit[] => {
    const flat: Json = {
      used_percent: stated[`${slot}_used_percent`],
      window_minutes: stated[`${slot}_window_minutes`],
    }
    const window = isObject(stated[slot]) ? stated[slot] : flat
    const limit = limitOf(window.window_minutes)
    const { used_percent, resets_at, resets_in_seconds } = window
    if (limit === null || typeof used_percent !== 'number') return []
    const ms =
      typeof resets_at === 'number'
        ? resets_at * 1000
        : typeof resets_in_seconds === 'number'
          ? Date.parse(at) + resets_in_seconds * 1000
          : null
    const resets = textOf(resets_at) ?? ms
    return [
      {
        ...{ at, limit, scope: id === 'codex' ? null : id, used_percent, resets_at: timeOf(resets) },
        ...{
          hit: used_percent >= 100,
          overage: used_percent >= 100 && hasCredits,
          plan: textOf(stated.plan_type),
        },
      },
    ]
  })
  const result = isReached && !windows.some(({ hit }) => hit) ? withHit(windows) : windows
  for (const each of result) limits.note(each)
  return result
}

/** The windows with that hit of which most is used. */
function withHit(windows: readonly StatedLimit[]): StatedLimit[] {
  const most = Math.max(...windows.map(({ used_percent }) => used_percent))
  return windows.map((each) => (each.used_percent === most ? { ...each, hit: true } : each))
}

/** Notes a request that was refused, by the windows that were stated last. */
export function noteExceeded(limits: Limits, last: readonly StatedLimit[], at: string): void {
  const open = last.filter(({ resets_at }) => resets_at === null || resets_at > at)
  const unknown = { at, limit: 'usage', used_percent: 100, resets_at: null, hit: true }
  for (const each of open.length === 0 ? [unknown] : withHit(open).filter(({ hit }) => hit))
    limits.note({ ...each, at })
}
