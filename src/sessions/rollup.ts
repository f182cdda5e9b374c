import { monthOf } from '../dates.ts'
import type { Fragment, ISql } from '../db/client.ts'
import { unnest } from '../db/rows.ts'
import { decimalText, MONEY_DECIMALS, SCORE_DECIMALS } from '../decimals.ts'

/** The figures of a session that the rollups count: money in micro-dollars, scores in hundredths. */
export interface CountedSession {
  project: string
  day: string
  cost: bigint
  unpricedTokens: number
  quality: bigint
  security: bigint
}

/** The change of one rollup row. */
interface RollupChange {
  grain: 'day' | 'month'
  project: string
  bucket: string
  sessions: number
  cost: bigint
  unpricedTokens: number
  qualitySum: bigint
  securitySum: bigint
  /** Extremes of the sessions as they are now. */
  added: Extremes
  /** Extremes of the sessions as they were stored: the row's own may have to be computed again. */
  removed: Extremes
  hasRemoved: boolean
}

interface Extremes {
  qualityMin: bigint
  qualityMax: bigint
  securityMin: bigint
  securityMax: bigint
}

const SCORE_MAX = 10_000n
/** The extremes of no session: those of the first session replace them. */
const noExtremes = (): Extremes => ({
  qualityMin: SCORE_MAX,
  qualityMax: 0n,
  securityMin: SCORE_MAX,
  securityMax: 0n,
})

const ALL_PROJECTS = ''

/**
 * Updates the rollups by the difference between `before` and `after`: the same sessions as they were stored
 * (a new one was not) and as they are now. Needs the organization's lock, in the transaction that writes the
 * sessions and after their rows: counts and sums change by differences, a removed minimum or maximum is
 * computed again.
 */
export async function updateRollups(
  tx: ISql,
  orgId: string,
  before: readonly CountedSession[],
  after: readonly CountedSession[],
): Promise<void> {
  const byKey = new Map<string, RollupChange>()
  for (const session of before) for (const change of changesOf(byKey, session)) count(change, session, -1)
  for (const session of after) for (const change of changesOf(byKey, session)) count(change, session, 1)
  const changes = [...byKey.values()]
  if (changes.length === 0) return
  await applyDifferences(tx, orgId, changes)
  // the order matters: extremes of months and of all projects are read from rows of days, not from a month of
  // sessions
  const removed = changes.filter(({ hasRemoved }) => hasRemoved)
  if (removed.length === 0) return
  await deleteEmpty(tx, orgId, removed)
  const days = removed.filter(({ grain }) => grain === 'day')
  const ofOneProject = days.filter(({ project }) => project !== ALL_PROJECTS)
  const ofAllProjects = days.filter(({ project }) => project === ALL_PROJECTS)
  const months = removed.filter(({ grain }) => grain === 'month')
  await extremesFromSessions(tx, orgId, ofOneProject)
  await extremesFromDays(tx, orgId, ofAllProjects, sameDay)
  await extremesFromDays(tx, orgId, months, sameMonth)
}

/** The four rows a session is counted in: by day and month, of its project and of all. */
function changesOf(byKey: Map<string, RollupChange>, session: CountedSession): RollupChange[] {
  const rows = [...new Set([session.project, ALL_PROJECTS])].flatMap((project) => [
    { grain: 'day' as const, project, bucket: session.day },
    { grain: 'month' as const, project, bucket: monthOf(session.day) },
  ])
  return rows.map((row) => {
    const key = `${row.grain} ${row.bucket} ${row.project}`
    const known = byKey.get(key)
    if (known !== undefined) return known
    const change = {
      ...row,
      sessions: 0,
      cost: 0n,
      unpricedTokens: 0,
      qualitySum: 0n,
      securitySum: 0n,
      added: noExtremes(),
      removed: noExtremes(),
      hasRemoved: false,
    }
    byKey.set(key, change)
    return change
  })
}

function count(change: RollupChange, session: CountedSession, sign: 1 | -1): void {
  const factor = BigInt(sign)
  change.sessions += sign
  if (sign === -1) change.hasRemoved = true
  change.cost += factor * session.cost
  change.unpricedTokens += sign * session.unpricedTokens
  change.qualitySum += factor * session.quality
  change.securitySum += factor * session.security
  const extremes = sign === 1 ? change.added : change.removed
  if (session.quality < extremes.qualityMin) extremes.qualityMin = session.quality
  if (session.quality > extremes.qualityMax) extremes.qualityMax = session.quality
  if (session.security < extremes.securityMin) extremes.securityMin = session.security
  if (session.security > extremes.securityMax) extremes.securityMax = session.security
}

const money = (micros: bigint): string => decimalText(micros, MONEY_DECIMALS)
const score = (hundredths: bigint): string => decimalText(hundredths, SCORE_DECIMALS)

async function applyDifferences(tx: ISql, orgId: string, changes: readonly RollupChange[]): Promise<void> {
  await tx`
    insert into session_rollups as r (
      org_id, grain, project, bucket, sessions, cost, unpriced_tokens,
      quality_sum, quality_min, quality_max, security_sum, security_min, security_max
    )
    select ${orgId}, n.*
    from ${unnest(tx, changes, {
      grain: 'text',
      project: 'text',
      bucket: 'date',
      sessions: 'bigint',
      cost: ['numeric', ({ cost }) => money(cost)],
      unpriced_tokens: ['bigint', ({ unpricedTokens }) => unpricedTokens],
      quality_sum: ['numeric', ({ qualitySum }) => score(qualitySum)],
      quality_min: ['numeric', ({ added }) => score(added.qualityMin)],
      quality_max: ['numeric', ({ added }) => score(added.qualityMax)],
      security_sum: ['numeric', ({ securitySum }) => score(securitySum)],
      security_min: ['numeric', ({ added }) => score(added.securityMin)],
      security_max: ['numeric', ({ added }) => score(added.securityMax)],
    })}
    on conflict (org_id, grain, project, bucket) do update set
      sessions = r.sessions + excluded.sessions,
      cost = r.cost + excluded.cost,
      unpriced_tokens = r.unpriced_tokens + excluded.unpriced_tokens,
      quality_sum = r.quality_sum + excluded.quality_sum,
      quality_min = least(r.quality_min, excluded.quality_min),
      quality_max = greatest(r.quality_max, excluded.quality_max),
      security_sum = r.security_sum + excluded.security_sum,
      security_min = least(r.security_min, excluded.security_min),
      security_max = greatest(r.security_max, excluded.security_max)`
}

/** The rows that sessions were removed from, with the extremes of those sessions, for `update … from`. */
const removedFrom = (tx: ISql, changes: readonly RollupChange[]) =>
  unnest(tx, changes, {
    grain: 'text',
    project: 'text',
    bucket: 'date',
    quality_min: ['numeric', ({ removed }) => score(removed.qualityMin)],
    quality_max: ['numeric', ({ removed }) => score(removed.qualityMax)],
    security_min: ['numeric', ({ removed }) => score(removed.securityMin)],
    security_max: ['numeric', ({ removed }) => score(removed.securityMax)],
  })

/** Rows whose minimum or maximum may be of a session that was removed. */
const mayBeExtreme = (tx: ISql, orgId: string) => tx`
  r.org_id = ${orgId}
  and r.grain = n.grain
  and r.project = n.project
  and r.bucket = n.bucket
  and (
    n.quality_min <= r.quality_min
    or n.quality_max >= r.quality_max
    or n.security_min <= r.security_min
    or n.security_max >= r.security_max
  )`

async function deleteEmpty(tx: ISql, orgId: string, changes: readonly RollupChange[]): Promise<void> {
  await tx`
    delete from session_rollups r
    using ${removedFrom(tx, changes)}
    where r.org_id = ${orgId}
      and r.grain = n.grain
      and r.project = n.project
      and r.bucket = n.bucket
      and r.sessions = 0`
}

async function extremesFromSessions(
  tx: ISql,
  orgId: string,
  changes: readonly RollupChange[],
): Promise<void> {
  if (changes.length === 0) return
  await tx`
    update session_rollups r
    set (quality_min, quality_max, security_min, security_max) = (
      select min(s.quality_score), max(s.quality_score), min(s.security_score), max(s.security_score)
      from sessions s
      where s.org_id = ${orgId}
        and s.project = r.project
        and s.created_at >= r.bucket::timestamp at time zone 'UTC'
        and s.created_at < (r.bucket + 1)::timestamp at time zone 'UTC'
    )
    from ${removedFrom(tx, changes)}
    where ${mayBeExtreme(tx, orgId)}`
}

/** Finds the extremes of row `r` in those that `days` selects, as rows of single days. */
async function extremesFromDays(
  tx: ISql,
  orgId: string,
  changes: readonly RollupChange[],
  days: (tx: ISql, orgId: string) => Fragment,
): Promise<void> {
  if (changes.length === 0) return
  await tx`
    update session_rollups r
    set (quality_min, quality_max, security_min, security_max) = (
      select min(f.quality_min), max(f.quality_max), min(f.security_min), max(f.security_max)
      from ${days(tx, orgId)} f
    )
    from ${removedFrom(tx, changes)}
    where ${mayBeExtreme(tx, orgId)}`
}

/** The rows of all projects of row `r`'s day, and the sessions without a project. */
const sameDay = (tx: ISql, orgId: string) => tx`(
  select d.quality_min, d.quality_max, d.security_min, d.security_max
  from session_rollups d
  where d.org_id = ${orgId}
    and d.grain = 'day'
    and d.bucket = r.bucket
    and d.project <> ''
  union all
  select s.quality_score, s.quality_score, s.security_score, s.security_score
  from sessions s
  where s.org_id = ${orgId}
    and s.project = ''
    and s.created_at >= r.bucket::timestamp at time zone 'UTC'
    and s.created_at < (r.bucket + 1)::timestamp at time zone 'UTC'
)`

const sameMonth = (tx: ISql, orgId: string) => tx`(
  select d.quality_min, d.quality_max, d.security_min, d.security_max
  from session_rollups d
  where d.org_id = ${orgId}
    and d.grain = 'day'
    and d.project = r.project
    and d.bucket >= r.bucket
    and d.bucket < (r.bucket + interval '1 month')::date
)`
