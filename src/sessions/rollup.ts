import { monthOf } from '../dates.ts'
import type { Fragment, ISql } from '../db/client.ts'
import { decimalText, MONEY_DECIMALS, SCORE_DECIMALS } from '../decimals.ts'

/** What a session counts for in the rollups: money in micro-dollars, scores in hundredths. */
export interface Counted {
  project: string
  day: string
  cost: bigint
  quality: bigint
  security: bigint
}

/** The change of one rollup row. */
interface Cell {
  grain: 'day' | 'month'
  project: string
  bucket: string
  sessions: number
  cost: bigint
  qualitySum: bigint
  securitySum: bigint
  /** sessions that were counted here and are not any more, or with other values */
  left: number
  added: Extremes
  removed: Extremes
}

interface Extremes {
  qualityMin: bigint
  qualityMax: bigint
  securityMin: bigint
  securityMax: bigint
}

const SCORE_MAX = 10_000n
/** Neither a least nor a greatest: 100 is no smaller, 0 no larger than any score. */
const noExtremes = (): Extremes => ({
  qualityMin: SCORE_MAX,
  qualityMax: 0n,
  securityMin: SCORE_MAX,
  securityMax: 0n,
})

const ALL_PROJECTS = ''

/**
 * Brings the rollups from `before` to `after` (the same sessions as they were and as they are; a new one is only in
 * `after`). Call it in the transaction that writes the sessions, behind the organization's lock and after the
 * sessions' rows: counts and sums move by differences, and a minimum or maximum that left its row is looked up again.
 */
export async function moveRollups(
  tx: ISql,
  orgId: string,
  before: readonly Counted[],
  after: readonly Counted[],
): Promise<void> {
  const cells = new Map<string, Cell>()
  for (const session of before) for (const cell of cellsOf(cells, session)) count(cell, session, -1)
  for (const session of after) for (const cell of cellsOf(cells, session)) count(cell, session, 1)
  const changes = [...cells.values()]
  if (changes.length === 0) return
  await applyDifferences(tx, orgId, changes)
  // finer rows first: a coarser row's extremes are found in the finer ones, never by scanning a month of sessions
  const left = changes.filter((cell) => cell.left > 0)
  if (left.length === 0) return
  await deleteEmpty(tx, orgId, left)
  await extremesFromSessions(
    tx,
    orgId,
    left.filter((cell) => cell.grain === 'day' && cell.project !== ALL_PROJECTS),
  )
  const allProjects = left.filter((cell) => cell.grain === 'day' && cell.project === ALL_PROJECTS)
  await extremesFrom(tx, orgId, allProjects, ofProjects(tx))
  const months = left.filter((cell) => cell.grain === 'month')
  await extremesFrom(tx, orgId, months, ofDays(tx))
}

/** The four rows a session counts in: by day and month, of its project and of all. */
function cellsOf(cells: Map<string, Cell>, session: Counted): Cell[] {
  const places = [session.project, ALL_PROJECTS].flatMap((project) => [
    { grain: 'day' as const, project, bucket: session.day },
    { grain: 'month' as const, project, bucket: monthOf(session.day) },
  ])
  return places.map((place) => {
    const key = `${place.grain} ${place.bucket} ${place.project}`
    const known = cells.get(key)
    if (known !== undefined) return known
    const cell = {
      ...place,
      sessions: 0,
      cost: 0n,
      qualitySum: 0n,
      securitySum: 0n,
      left: 0,
      added: noExtremes(),
      removed: noExtremes(),
    }
    cells.set(key, cell)
    return cell
  })
}

function count(cell: Cell, session: Counted, sign: 1 | -1): void {
  const factor = BigInt(sign)
  cell.sessions += sign
  if (sign === -1) cell.left += 1
  cell.cost += factor * session.cost
  cell.qualitySum += factor * session.quality
  cell.securitySum += factor * session.security
  const extremes = sign === 1 ? cell.added : cell.removed
  if (session.quality < extremes.qualityMin) extremes.qualityMin = session.quality
  if (session.quality > extremes.qualityMax) extremes.qualityMax = session.quality
  if (session.security < extremes.securityMin) extremes.securityMin = session.security
  if (session.security > extremes.securityMax) extremes.securityMax = session.security
}

const money = (micros: bigint): string => decimalText(micros, MONEY_DECIMALS)
const score = (hundredths: bigint): string => decimalText(hundredths, SCORE_DECIMALS)

async function applyDifferences(tx: ISql, orgId: string, cells: readonly Cell[]): Promise<void> {
  await tx`
    insert into session_rollups as r (
      org_id, grain, project, bucket, sessions, cost,
      quality_sum, quality_min, quality_max, security_sum, security_min, security_max
    )
    select ${orgId}, c.*
    from unnest(
      ${cells.map((cell) => cell.grain)}::text[],
      ${cells.map((cell) => cell.project)}::text[],
      ${cells.map((cell) => cell.bucket)}::date[],
      ${cells.map((cell) => cell.sessions)}::bigint[],
      ${cells.map((cell) => money(cell.cost))}::numeric[],
      ${cells.map((cell) => score(cell.qualitySum))}::numeric[],
      ${cells.map((cell) => score(cell.added.qualityMin))}::numeric[],
      ${cells.map((cell) => score(cell.added.qualityMax))}::numeric[],
      ${cells.map((cell) => score(cell.securitySum))}::numeric[],
      ${cells.map((cell) => score(cell.added.securityMin))}::numeric[],
      ${cells.map((cell) => score(cell.added.securityMax))}::numeric[]
    ) as c
    on conflict (org_id, grain, project, bucket) do update set
      sessions = r.sessions + excluded.sessions,
      cost = r.cost + excluded.cost,
      quality_sum = r.quality_sum + excluded.quality_sum,
      quality_min = least(r.quality_min, excluded.quality_min),
      quality_max = greatest(r.quality_max, excluded.quality_max),
      security_sum = r.security_sum + excluded.security_sum,
      security_min = least(r.security_min, excluded.security_min),
      security_max = greatest(r.security_max, excluded.security_max)`
}

/** The cells as a table `c` with what left each of them, for `update … from`. */
const asTable = (tx: ISql, cells: readonly Cell[]) => tx`
  unnest(
    ${cells.map((cell) => cell.grain)}::text[],
    ${cells.map((cell) => cell.project)}::text[],
    ${cells.map((cell) => cell.bucket)}::date[],
    ${cells.map((cell) => score(cell.removed.qualityMin))}::numeric[],
    ${cells.map((cell) => score(cell.removed.qualityMax))}::numeric[],
    ${cells.map((cell) => score(cell.removed.securityMin))}::numeric[],
    ${cells.map((cell) => score(cell.removed.securityMax))}::numeric[]
  ) as c (grain, project, bucket, quality_min, quality_max, security_min, security_max)`

/** Only rows whose least or greatest score may just have left them. */
const wasExtreme = (tx: ISql, orgId: string) => tx`
  r.org_id = ${orgId}
  and r.grain = c.grain
  and r.project = c.project
  and r.bucket = c.bucket
  and (
    c.quality_min <= r.quality_min
    or c.quality_max >= r.quality_max
    or c.security_min <= r.security_min
    or c.security_max >= r.security_max
  )`

async function deleteEmpty(tx: ISql, orgId: string, cells: readonly Cell[]): Promise<void> {
  await tx`
    delete from session_rollups r
    using ${asTable(tx, cells)}
    where r.org_id = ${orgId}
      and r.grain = c.grain
      and r.project = c.project
      and r.bucket = c.bucket
      and r.sessions = 0`
}

async function extremesFromSessions(tx: ISql, orgId: string, cells: readonly Cell[]): Promise<void> {
  if (cells.length === 0) return
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
    from ${asTable(tx, cells)}
    where ${wasExtreme(tx, orgId)}`
}

/** The extremes of the finer rows that `finer` names, `f` being those and `r` the row they are looked up for. */
async function extremesFrom(tx: ISql, orgId: string, cells: readonly Cell[], finer: Fragment): Promise<void> {
  if (cells.length === 0) return
  await tx`
    update session_rollups r
    set (quality_min, quality_max, security_min, security_max) = (
      select min(f.quality_min), max(f.quality_max), min(f.security_min), max(f.security_max)
      from session_rollups f
      where f.org_id = ${orgId}
        and f.grain = 'day'
        and ${finer}
    )
    from ${asTable(tx, cells)}
    where ${wasExtreme(tx, orgId)}`
}

const ofProjects = (tx: ISql) => tx`
  f.bucket = r.bucket
  and f.project <> ''`

const ofDays = (tx: ISql) => tx`
  f.project = r.project
  and f.bucket >= r.bucket
  and f.bucket < (r.bucket + interval '1 month')::date`
