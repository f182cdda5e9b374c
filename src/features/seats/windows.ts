// Joins observations of limits to windows, and makes records of these: whatever number of observations there is of a window,
// from whatever machine and in whatever order, it is one row.

import type { LimitRecord, Vendor } from '../../analysis/records/plan.ts'
import { normalizeTimestamp } from '../../base/dates.ts'
import { asciiLower } from '../../base/text.ts'
import { hoursOf } from '../usage/windows-write.ts'

/** A window of a limit; times in milliseconds since 1970. */
export interface Window {
  owner: string
  vendor: Vendor
  limit_name: string
  scope: string
  /** Whether `starts` and `ends` are the times at which it resets, by its observations; else those of the observations. */
  resets: boolean
  starts: number
  ends: number
  account: string | null
  member: string
  agent: string
  plan: string | null
  first_at: number
  last_at: number
  last_percent: number
  peak_percent: number
  hit_at: number | null
  overage: boolean
}

/** Times at which a window resets differ by this much at most. */
const SAME_MS = 5 * 60_000

const HOUR_MS = 3_600_000

export const windowKey = ({ owner, vendor, limit_name, scope, resets }: Window): string =>
  JSON.stringify([owner, vendor, limit_name, scope, resets])

/** Observations whose times lie no farther apart are of one window. */
export const reachOf = ({ resets, limit_name }: Window): number =>
  resets ? SAME_MS : hoursOf(limit_name) * HOUR_MS

const millis = (time: string): number => Date.parse(normalizeTimestamp(time))

/** The windows as one record states them. */
export function windowsOf({ vendor, agent, account, plan, at, windows, user_email }: LimitRecord): Window[] {
  const atMs = millis(at)
  const member = user_email == null ? '' : asciiLower(user_email)
  return windows.map(({ limit, scope, used_percent, resets_at, hit, overage }) => {
    const time = resets_at == null ? atMs : millis(resets_at)
    const percent = Math.round(used_percent * 1e6) / 1e6
    return {
      // agents do not always name the account, but a member's key always names the member
      ...{ owner: member || (account ?? ''), vendor, limit_name: limit, scope: scope ?? '' },
      ...{ resets: resets_at != null, starts: time, ends: time },
      ...{ account: account ?? null, member, agent, plan: plan ?? null },
      ...{ first_at: atMs, last_at: atMs, last_percent: percent, peak_percent: percent },
      ...{ hit_at: hit ? atMs : null, overage: overage ?? false },
    }
  })
}

const isNear = (a: Window, b: Window): boolean =>
  a.starts - b.ends <= reachOf(a) && b.starts - a.ends <= reachOf(a)

/** Orders states of a window by time; at the same time by what they say, so that the order of arrival does not matter. */
function isLater(a: Window, b: Window): boolean {
  if (a.last_at !== b.last_at) return a.last_at > b.last_at
  if (a.last_percent !== b.last_percent) return a.last_percent > b.last_percent
  const said = ({ agent, plan, account, member }: Window) => JSON.stringify([agent, plan, account, member])
  return said(a) > said(b)
}

function merged(a: Window, b: Window): Window {
  const hits = [a.hit_at, b.hit_at].filter((at) => at !== null)
  return {
    ...(isLater(a, b) ? a : b),
    starts: Math.min(a.starts, b.starts),
    ends: Math.max(a.ends, b.ends),
    first_at: Math.min(a.first_at, b.first_at),
    peak_percent: Math.max(a.peak_percent, b.peak_percent),
    hit_at: hits.length === 0 ? null : Math.min(...hits),
    overage: a.overage || b.overage,
  }
}

/** Folds an observation into the windows of its key. Returns the windows after it, and whether one is new or has changed. */
export function folded(
  windows: readonly Window[],
  window: Window,
): { windows: Window[]; result: 'created' | 'updated' | 'unchanged' } {
  const near = windows.filter((each) => isNear(each, window))
  const [first, ...others] = near
  if (first === undefined) return { windows: [...windows, window], result: 'created' }
  const all = near.reduce(merged, window)
  const isSame = others.length === 0 && Bun.deepEquals(all, first)
  return isSame
    ? { windows: [...windows], result: 'unchanged' }
    : { windows: [...windows.filter((each) => !near.includes(each)), all], result: 'updated' }
}

/** Records that make the window where it is not known. */
export function recordsOf(window: Window): LimitRecord[] {
  const { vendor, agent, account, plan, member, limit_name, scope, resets, starts, ends, first_at, last_at } =
    window
  const iso = (ms: number) => new Date(ms).toISOString()
  const record = (at: number, time: number, used_percent: number, more: object = {}): LimitRecord => ({
    ...{ type: 'limit', vendor, agent, account, plan, at: iso(at) },
    windows: [
      {
        ...{ limit: limit_name, scope: scope || null, used_percent, hit: false, overage: false, ...more },
        resets_at: resets ? iso(time) : null,
      },
    ],
    ...(member === '' ? {} : { user_email: member }),
  })
  const { peak_percent, last_percent, hit_at, overage } = window
  const times = Array.from(
    { length: Math.ceil((ends - starts) / reachOf(window)) },
    (_, n) => starts + n * reachOf(window),
  )
  return [
    record(first_at, starts, peak_percent),
    // a window whose times differ by more has an observation in each part of them
    ...times.slice(1).map((time) => record(resets ? first_at : time, time, 0)),
    ...(hit_at === null ? [] : [record(hit_at, ends, 0, { hit: true })]),
    record(last_at, ends, last_percent, { overage }),
  ]
}
