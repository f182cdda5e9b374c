// Collects the limits of a subscription that formats/limits/*.ts find, one state a quarter of an hour, makes their records, and
// reads `resets 3pm`.

import { addDays, dayOf, hourOf, isTimeZone } from '../../../base/dates.ts'
import { cut } from '../../../base/text.ts'
import type { LimitRecord, Vendor } from '../../records/plan.ts'
import { vendorOf } from '../../usage/model.ts'

export interface StatedLimit {
  at: string
  limit: string
  scope?: string | null
  used_percent: number
  resets_at: string | null
  hit: boolean
  overage?: boolean
  plan?: string | null
  /** The vendor's id of the account, which is sent as a hash. */
  account?: string | null
}

/** One observation of a window is kept in so long, and one hit. */
const EVERY_MS = 15 * 60_000
const MAX_NAME = 100

export function createLimits() {
  const limits = new Map<string, StatedLimit>()
  return {
    note(stated: StatedLimit): void {
      const slot = Math.floor(Date.parse(stated.at) / EVERY_MS)
      const hour = stated.resets_at?.slice(0, 13)
      const key = JSON.stringify([stated.limit, stated.scope, hour, slot, stated.hit])
      const before = limits.get(key) ?? stated
      // the first hit counts, else the last state
      const isEarlier = stated.at < before.at
      const chosen = isEarlier === stated.hit ? stated : before
      limits.set(key, {
        ...chosen,
        used_percent: Math.max(before.used_percent, stated.used_percent),
        overage: before.overage === true || stated.overage === true,
      })
    },
    list: (): StatedLimit[] => [...limits.values()],
  }
}

export type Limits = ReturnType<typeof createLimits>

/** The records of limits, those of one time in one; `accountOf` makes the account's hash. */
export function agentLimitRecords(
  stated: readonly StatedLimit[],
  agent: string,
  {
    userEmail,
    accountOf,
  }: { userEmail?: string | undefined; accountOf?: ((id: string) => string) | undefined },
): LimitRecord[] {
  const byTime = Map.groupBy(stated, ({ at, plan, account }) => JSON.stringify([at, plan, account]))
  return [...byTime.values()]
    .map((windows): LimitRecord => {
      const { at = '', plan, account } = windows[0] ?? {}
      return {
        ...{ type: 'limit', vendor: vendorOf(agent) as Vendor, agent, at },
        ...(account && accountOf ? { account: accountOf(account) } : {}),
        ...(plan ? { plan: cut(plan, MAX_NAME) } : {}),
        windows: windows.slice(0, 20).map(({ limit, scope, used_percent, resets_at, hit, overage }) => ({
          limit: cut(limit, MAX_NAME),
          ...(scope ? { scope: cut(scope, MAX_NAME) } : {}),
          used_percent: Math.min(1000, Math.max(0, Math.round(used_percent * 1e6) / 1e6)),
          ...{ resets_at, hit },
          ...(overage === true ? { overage } : {}),
        })),
        ...(userEmail === undefined ? {} : { user_email: userEmail }),
      }
    })
    .toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

const MONTHS = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const RESETS =
  /resets (?:at )?(?:([A-Z][a-z]{2})[a-z]* (\d{1,2})(?:, \d{4})?,? (?:at )?)?(\d{1,2})(?::(\d{2}))? ?([ap])m(?: \(([^)]+)\))?/i

/** The time in `resets Oct 10, 3pm (Europe/Berlin)`, the next such one after `at`; without a zone that of this machine. */
export function resetTime(text: string, at: string): string | null {
  const [, month, date, hour, minute = '0', half, name] = RESETS.exec(text) ?? []
  if (hour === undefined) return null
  const zone =
    name !== undefined && isTimeZone(name) ? name : new Intl.DateTimeFormat().resolvedOptions().timeZone
  const ofDay = (day: string) =>
    hourOf(day, (Number(hour) % 12) + (half?.toLowerCase() === 'p' ? 12 : 0), zone).getTime() +
    Number(minute) * 60_000
  const today = dayOf(at, zone)
  const place = MONTHS.indexOf(month?.toLowerCase() ?? '') + 1
  const two = (value: number | string) => String(value).padStart(2, '0')
  const inYear = (year: number) => `${year}-${two(place)}-${two(date ?? '1')}`
  const year = Number(today.slice(0, 4))
  const days = place === 0 ? [today, addDays(today, 1)] : [inYear(year), inYear(year + 1)]
  const next = days.map(ofDay).find((ms) => ms > Date.parse(at))
  return next === undefined ? null : new Date(next).toISOString()
}
