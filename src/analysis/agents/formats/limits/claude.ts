// Reads the limits that Claude Code states of its subscription, in several places: events of the stream, texts of transcripts,
// and `~/.claude.json`, of which nothing else is taken.

import { blockText, type Time, timeOf } from '../../transcript/contents.ts'
import { isObject, type Json, objectOf, textOf } from '../../transcript/json.ts'
import type { SourceFile } from '../../transcript/source-file.ts'
import { type Limits, resetTime, type StatedLimit } from '../../transcript/stated-limits.ts'
import type { Transcript } from '../../transcript/transcript.ts'

type LimitName = Pick<StatedLimit, 'limit' | 'scope'>

/** A window by the name that the vendor gives it: `seven_day_opus` is a week of one family of models. */
function windowOf(name: string): LimitName {
  if (name === 'overage') return { limit: 'spend' }
  const [, family] = /^seven_day(?:_(\w+))?$/.exec(name) ?? []
  if (family !== undefined) return { limit: 'week', scope: family }
  return { limit: name === 'seven_day' ? 'week' : name }
}

const secondsOf = (value: unknown): string | null => (typeof value === 'number' ? timeOf(value * 1000) : null)

/** Notes a `rate_limit_event`; only `rejected` is a hit. `at`: its time, else the latest that it can have. */
export function noteEvent(limits: Limits, transcript: Transcript, info: Json, at: string): void {
  const name = textOf(info.rateLimitType)
  const note = (type: string, each: Json, more: Pick<StatedLimit, 'hit' | 'overage'>) => {
    const resets_at = secondsOf(each.resetsAt)
    const share = typeof each.utilization === 'number' ? each.utilization : more.hit ? 1 : null
    if (share === null) return
    const time = resets_at !== null && resets_at < at ? resets_at : at
    limits.note({ at: time, ...windowOf(type), used_percent: share * 100, resets_at, ...more })
  }
  const windows = objectOf(info.unifiedWindows)
  for (const [type, each] of Object.entries(windows))
    if (type !== name && isObject(each)) note(type, each, { hit: false })
  if (name === null) return
  transcript.notes.paid_by ??= 'plan'
  note(name, info, { hit: info.status === 'rejected', overage: info.isUsingOverage === true })
}

const EPOCH = /usage limit reached\|(\d{9,11})/
const REACHED = /(?:hit your (.{0,40}?)\s?limit\b|^\W*(.{0,40}?)\s?limit reached)/i
const FIVE_HOURS_MS = 5 * 3_600_000

/** Notes the line that stands for a refused request; an answer that says the same is none. */
export function noteRefusal(file: SourceFile, transcript: Transcript, line: Json, at: Time): void {
  if (line.isApiErrorMessage !== true || at === null) return
  if (isObject(line.quotaLimits)) {
    noteEvent(file.limits, transcript, line.quotaLimits, at)
    return
  }
  const text = blockText(objectOf(line.message).content)
  const [, epoch] = EPOCH.exec(text) ?? []
  const [reached, first, second] = REACHED.exec(text) ?? []
  if (epoch === undefined && reached === undefined) return
  const resets_at = epoch === undefined ? resetTime(text, at) : secondsOf(Number(epoch))
  const isLong = resets_at !== null && Date.parse(resets_at) - Date.parse(at) > FIVE_HOURS_MS
  transcript.notes.paid_by ??= 'plan'
  file.limits.note({ at, ...namedOf(first ?? second ?? '', isLong), used_percent: 100, resets_at, hit: true })
}

/** A limit by its name in texts, as `weekly`, `Opus`; without one of a week where it `isLong`. */
function namedOf(text: string, isLong: boolean): LimitName {
  const name = text.toLowerCase()
  if (/spend|credit|month/.test(name)) return { limit: 'spend' }
  if (/session|5.hour/.test(name)) return { limit: 'five_hour' }
  const family = name.replace(/weekly|usage|claude ai|your|\W/g, '')
  if (family !== '') return { limit: 'week', scope: family }
  return { limit: name.includes('week') || isLong ? 'week' : 'five_hour' }
}

/** The plan of an account: `max_5x`, `pro`, `team_premium`. */
function planOf({ seatTier, organizationRateLimitTier, organizationType }: Json): string | null {
  const [max] = /max_\d+x/.exec(textOf(organizationRateLimitTier) ?? '') ?? []
  const type = textOf(organizationType)?.replace(/^claude_/, '') ?? null
  const seat = textOf(seatTier)
  return seat === null || type === null
    ? (max ?? seat ?? type)
    : seat.startsWith(type)
      ? seat
      : `${type}_${seat}`
}

/** Whether the account of `.claude.json` is one of a subscription, and no key is used beside it. Of keys only their presence is looked at. */
export function isPlanAccount({ oauthAccount, primaryApiKey, customApiKeyResponses }: Json): boolean {
  const { approved } = objectOf(customApiKeyResponses)
  const hasKey = textOf(primaryApiKey) !== null || (Array.isArray(approved) && approved.length > 0)
  return !hasKey && textOf(objectOf(oauthAccount).organizationType)?.startsWith('claude_') === true
}

/** The limits in `.claude.json`, which the program asked for some time ago; in percent, unlike those of events. */
export function accountLimits(document: Json): StatedLimit[] {
  const { fetchedAtMs, utilization } = objectOf(document.cachedUsageUtilization)
  const account = objectOf(document.oauthAccount)
  const at = timeOf(fetchedAtMs)
  if (at === null) return []
  const more = { plan: planOf(account), account: textOf(account.accountUuid) }
  return Object.entries(objectOf(utilization)).flatMap(([name, each]) => {
    if (!/^(?:five_hour|seven_day\w*)$/.test(name) || !isObject(each)) return []
    const { utilization: used_percent } = each
    if (typeof used_percent !== 'number') return []
    return [{ at, ...windowOf(name), used_percent, resets_at: timeOf(each.resets_at), hit: false, ...more }]
  })
}
