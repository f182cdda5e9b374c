// Finds the badge that a caller may see, and the badge settings for the command line.

import { inZone } from '../../accounts/organizations/zone-queries.ts'
import { addDays, dayOf } from '../../base/dates.ts'
import { unitsOf } from '../../base/decimals.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { costRows } from '../usage/sources.ts'
import { sessionSums } from '../usage/sums.ts'
import type { Badge, BadgeKind, BadgeLook } from './model.ts'
import { badgeOf, efficiency, meanValue } from './value.ts'

/** A badge that may be shown; `isOwn`: it is of the organization that the caller may read. */
export interface FoundBadge {
  badge: Badge
  isOwn: boolean
}

interface WantedBadge {
  slug: string
  kind: BadgeKind
  /** The organization that the caller may read the figure of; null: none. */
  readable: string | null
  /** SHA-256 of the token of the request; null without a token. */
  tokenHash: Uint8Array | null
  days: number
  /** undefined: all projects. */
  project: string | undefined
}

/** The badge's content, and whether it is the caller's; undefined for unknown and private ones, in the same time. */
export async function findBadge(sql: Sql, badge: WantedBadge, now: Date): Promise<FoundBadge | undefined> {
  const [organization] = await sql<
    { orgId: string; look: BadgeLook; zone: string; isZoneChanging: boolean }[]
  >`
    select o.org_id as "orgId", o.badge_look as look, o.time_zone as zone,
      o.time_zone_pending is not null as "isZoneChanging"
    from organizations o
    where o.slug = ${badge.slug}
      and (o.badges_public or o.badge_token_hash = ${badge.tokenHash} or o.org_id = ${badge.readable})`
  if (organization === undefined) return undefined
  const { orgId, look } = organization
  const read = badge.kind === 'cost' ? readEfficiency : readMean
  const value = await inZone(sql, organization, (zone) =>
    read(sql, orgId, { ...badge, today: dayOf(now, zone) }),
  )
  return { badge: badgeOf(badge.kind, value, look), isOwn: orgId === badge.readable }
}

/** The last day of the range. */
interface Today {
  today: string
}

const badgeRange = ({ today, days, project }: WantedBadge & Today) => ({
  ...(project === undefined ? {} : { project }),
  date_from: addDays(today, 1 - days),
  date_to: today,
})

async function readMean(sql: Sql, orgId: string, badge: WantedBadge & Today): Promise<number | undefined> {
  const [row] = await sql<{ sessions: string; quality_sum: string; security_sum: string }[]>`
    select
      coalesce(sum(r.sessions), 0) as sessions,
      coalesce(sum(r.quality_sum), 0.00) as quality_sum,
      coalesce(sum(r.security_sum), 0.00) as security_sum
    from (${sessionSums(sql, orgId, badgeRange(badge), 'day')}) r`
  if (row === undefined) return undefined
  const sum = badge.kind === 'security' ? row.security_sum : row.quality_sum
  return meanValue(unitsOf(sum), BigInt(row.sessions))
}

/** A project is compared with the budget of the whole organization, whether or not it has one of its own. */
async function readEfficiency(sql: Sql, orgId: string, badge: WantedBadge & Today) {
  const { today, days } = badge
  const [spent, ...limits] = await sql<{ month: string; amount: string }[]>`
    select '' as month, coalesce(sum(r.micros), 0) * 0.000001 as amount
    from (${costRows(sql, orgId, badgeRange(badge))}) r
    union all
    select b.month::text, b.limit_usd
    from budgets b
    where b.org_id = ${orgId}
      and b.scope = 'organization'
      and b.month <= ${today}
    order by month`
  const counted = Array.from({ length: days }, (_day, index) => addDays(today, -index))
  return efficiency(
    unitsOf(spent?.amount ?? '0'),
    counted,
    limits.map(({ month, amount }) => ({ month, limit: unitsOf(amount) })),
  )
}

/** An organization's badge settings for the command line. */
type BadgeSettings = { visibility: 'public' | 'private'; token: boolean } & BadgeLook

export async function readBadgeSettings(tx: ISql, orgId: string): Promise<BadgeSettings> {
  const [row] = await tx<{ visibility: 'public' | 'private'; token: boolean; look: BadgeLook }[]>`
    select
      case when o.badges_public then 'public' else 'private' end as visibility,
      o.badge_token_hash is not null as token,
      o.badge_look as look
    from organizations o
    where o.org_id = ${orgId}`
  if (row === undefined) throw new Error('the organization is gone')
  return { visibility: row.visibility, token: row.token, ...row.look }
}
