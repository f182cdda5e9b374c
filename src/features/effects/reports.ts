// Lists changes with their reports, which are computed and kept.

import type { AssignedMember } from '../../analysis/effects/assigned-arms.ts'
import { BEFORE, cutsOf } from '../../analysis/effects/compare.ts'
import { pastDates } from '../../analysis/effects/earlier-dates.ts'
import {
  type Figures,
  MIN_UNITS,
  measureAssigned,
  measureChange,
} from '../../analysis/effects/measure-change.ts'
import { FROM_START } from '../../analysis/effects/notice.ts'
import { addTo, SUM, type Sums } from '../../analysis/effects/sums.ts'
import { baseOf, type UnitWork, unitsOf, workSums } from '../../analysis/effects/units.ts'
import { createBasePrices, type PriceHistory } from '../../analysis/scoring/base-prices.ts'
import { addDays, DAY_MS, isPastLastDate, LAST_DATE } from '../../base/dates.ts'
import { VERSION } from '../../base/version.ts'
import type { ISql } from '../../database/client.ts'
import { readReports, storeReport } from './effect-queries.ts'
import type { Change, findChanges, State } from './find-changes.ts'
import { type Effect, type EffectListQuery, type EffectQuery, FIRST_LOOK } from './model.ts'
import { isFound } from './words.ts'
import { mondayOfWeek, readBegun, readWeekVersions, readWork, type WorkRow, weekOf } from './work-queries.ts'

export interface EffectDeps {
  sql: ISql
  /** Keeps what was measured of closed weeks; null: nothing does. */
  store: ISql | null
  prices: PriceHistory
  now: Date
  /** Finds the changes. */
  find: typeof findChanges
}

/** A change with its figures, and since when it has this verdict. */
export interface Measured {
  effect: Effect
  since: Date
}

/** Measures changes. What is kept of closed weeks is used while their work is the same. */
async function measureAll(
  { sql, store, prices, now }: EffectDeps,
  orgId: string,
  state: State,
  changes: readonly Change[],
  query: EffectQuery,
): Promise<Measured[]> {
  const reports = await readReports(sql, orgId, query)
  const versions = await readWeekVersions(sql, orgId)
  const { also } = state
  const measured: Measured[] = []
  for (const change of changes) {
    const until = closedUntil(change, state, Number(query.weeks))
    const basis = basisOf(change, state, query, until, versions, prices)
    const stored = reports.get(change.id)
    const isKept = until !== undefined && stored?.basis === basis
    const figures = isKept ? stored.figures : await figuresOf(sql, orgId, state, change, query, prices)
    const since = stored?.figures.verdict === figures.verdict ? stored.since : now
    measured.push({ effect: effectOf(change, query, figures, also.get(change.id)), since })
    if (isKept) continue
    if (until !== undefined && store !== null)
      await storeReport(store, orgId, query, { id: change.id, basis, figures, since })
    // others have their turn between two that take long
    await new Promise((resolve) => setImmediate(resolve))
  }
  return measured
}

/** The last week that is measured, of the cohorts whose weeks have passed; undefined where none has. */
function closedUntil({ adopted, days }: Change, { week, today }: State, after: number): number | undefined {
  if (days !== undefined) return days.to < today ? weekOf(days.to) : undefined
  const closed = [...adopted.values()].filter((at) => at !== FROM_START && at + after < week)
  return closed.length === 0 ? undefined : Math.max(...closed) + after
}

/** A hash of all that the figures depend on: they are measured again where it is another. */
function basisOf(
  { adopted, days, change }: Change,
  { zone, teams, models, week }: State,
  { weeks }: EffectQuery,
  until: number | undefined,
  versions: readonly { week: number; version: string }[],
  prices: PriceHistory,
): string {
  const first = weekOf(change.first_week)
  const day = mondayOfWeek(first - BEFORE)
  const pricesOf = createBasePrices(prices, day)
  const parts = [
    ...[VERSION, zone, until, days, [...adopted].sort(), versions.filter((one) => one.week <= (until ?? 0))],
    // units that changed are others of earlier cohorts until theirs are over
    [...adopted.values()].filter((at) => at + Number(weeks) >= week).length,
    teams,
    models.map((model) => pricesOf(model, 'standard')?.map(String)),
  ]
  return new Bun.CryptoHasher('sha256').update(JSON.stringify(parts)).digest('hex')
}

async function figuresOf(
  sql: ISql,
  orgId: string,
  state: State,
  change: Change,
  { weeks, measure }: EffectQuery,
  prices: PriceHistory,
): Promise<Figures> {
  const { members, week, first, today } = state
  const after = weeks === '4' ? 4 : 8
  const cohorts = [...change.adopted.values()].filter((at) => at !== FROM_START)
  const earliest = Math.min(...cohorts, week)
  const firstDay = change.days?.from ?? mondayOfWeek(earliest - BEFORE)
  const pricesOf = createBasePrices(prices, firstDay)
  const allSums = ({ model, price, sums, tokens, costs }: WorkRow): Sums => {
    const base = baseOf(pricesOf(model, price), tokens, costs, sums[SUM.calls] ?? 0)
    return workSums(sums, tokens, base, costs.at(-1) ?? 0)
  }
  if (change.days !== undefined) {
    const { from, to, members: ids } = change.days
    const rows = today < from ? [] : await readBegun(sql, orgId, ids, from, to)
    const days = new Map(ids.map((id) => [id, new Map<number, Sums>()]))
    for (const row of rows) {
      const of = days.get(row.member)
      const sums = of?.get(row.at)
      if (sums === undefined) of?.set(row.at, allSums(row))
      else addTo(sums, allSums(row))
    }
    const assigned = [...days].map(([id, sums]): AssignedMember => ({ id, days: sums }))
    return measureAssigned(change.id, assigned, measure, to < today)
  }
  const isOfMembers = change.change.unit === 'member'
  const ask = async (dates: readonly number[]) => {
    const rows = await readWork(sql, orgId, cutsOf([earliest, ...dates], after, week))
    const work = rows.map((row): UnitWork => {
      const unit = isOfMembers ? row.member : row.project
      return { unit, project: row.project, week: row.at, sums: allSums(row) }
    })
    const units = unitsOf(
      work.filter(({ unit }) => unit !== ''),
      change.adopted,
      (unit) => (isOfMembers ? (members.get(unit) ?? null) : null),
    )
    const membersOf = (projects: ReadonlySet<string>) =>
      new Set(rows.flatMap(({ member, project }) => (projects.has(project) && member !== '' ? [member] : [])))
        .size
    const { unit } = change.change
    return measureChange({ units, unit, measure, after, first, now: week, members: membersOf })
  }
  const figures = await ask(cohorts.flatMap((at) => [at, at - after - 1]))
  const isNamedFew = change.change.source === 'recorded' && cohorts.length < MIN_UNITS
  if (isNamedFew && figures.verdict === 'too_early') return { ...figures, verdict: 'too_few' }
  return figures.evidence === 'own_past' && figures.verdict !== 'too_early'
    ? await ask(pastDates(earliest, after))
    : figures
}

function effectOf(
  { id, name, change, dismissed, days }: Change,
  { weeks, measure }: EffectQuery,
  { evidence, verdict, ...figures }: Figures,
  also: ReadonlySet<string> = new Set(),
): Effect {
  const after = Number(weeks)
  const over = days === undefined ? addDays(change.first_week, 7 * (after + 1)) : addDays(days.to, 1)
  const look_at = isPastLastDate(over) ? LAST_DATE : over
  return {
    ...{ id, name, change, evidence, verdict, measure },
    weeks: days === undefined ? { before: BEFORE, after } : null,
    ...figures,
    ...{ dismissed, also_changed: [...also].sort(), look_at: verdict === 'too_early' ? look_at : null },
    notes: days === undefined ? ['not_assigned'] : [],
  } as Effect
}

/** The changes that match, newest first, with their figures at the first look. */
export async function listEffects(
  deps: EffectDeps,
  orgId: string,
  { verdict, kind, date_from, date_to, dismissed }: Omit<EffectListQuery, 'page' | 'per_page'>,
): Promise<Measured[]> {
  const state = await deps.find(deps.sql, orgId, deps.prices, deps.now)
  const matching = state.changes.filter(
    (one) =>
      one.dismissed === (dismissed === 'true') &&
      (kind === undefined || one.change.trait === kind) &&
      (date_from === undefined || one.change.first_week >= date_from) &&
      (date_to === undefined || one.change.first_week <= date_to),
  )
  const measured = await measureAll(deps, orgId, state, matching, FIRST_LOOK)
  return measured.filter(({ effect }) => verdict === undefined || effect.verdict === verdict)
}

/** One change with its figures; undefined where there is none. */
export async function findEffect(deps: EffectDeps, orgId: string, id: string, query: EffectQuery) {
  const state = await deps.find(deps.sql, orgId, deps.prices, deps.now)
  const change = state.changes.find((one) => one.id === id)
  if (change === undefined) return undefined
  const [measured] = await measureAll(deps, orgId, state, [change], query)
  return measured?.effect
}

/** Changes that have been found after the digest before, or in the last seven days where there was none. */
export async function newlyFound(deps: EffectDeps, orgId: string, before: Date | null) {
  const from = before?.getTime() ?? deps.now.getTime() - 7 * DAY_MS
  const measured = await listEffects(deps, orgId, { dismissed: 'false' })
  return measured.flatMap(({ effect: { id, name, verdict, effect }, since }) =>
    isFound({ verdict }) && effect !== null && since.getTime() > from ? [{ id, name, verdict, effect }] : [],
  )
}
