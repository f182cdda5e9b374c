// Notices changes (versions, models, shares, prices) from what members used week by week. Weeks are numbers; members are units.

/** The adoption of who had a value from their start on: they are neither compared nor a change. */
export const FROM_START = 0

/** The first and the last week in which a unit had a value of a trait. */
export interface Used {
  trait: string
  value: string
  unit: string
  first: number
  last: number
}

/** The calls of a unit in a week by model, and its tokens written to the cache, for an hour and in all. */
export interface WeekOfUnit {
  unit: string
  week: number
  /** All calls. */
  all: number
  calls: ReadonlyMap<string, number>
  written: number
  writtenForHour: number
}

export interface Noticed {
  trait: string
  value: string
  /** The weeks of units that changed, and FROM_START of those that had it always. */
  adopted: ReadonlyMap<string, number>
}

const [LOW, HIGH, RISE_WEEKS] = [0.1, 0.5, 4]
/** The value of `cache_lifetime`. */
const HOUR = '1h'

export function compareVersions(a: string, b: string): number {
  const [partsA, partsB] = [a, b].map((text) => text.split(/[.+-]/))
  for (let at = 0; at < Math.max(partsA?.length ?? 0, partsB?.length ?? 0); at++) {
    const [one, other] = [partsA?.[at] ?? '0', partsB?.[at] ?? '0']
    const order = Number(one) - Number(other)
    if (Number.isNaN(order)) {
      // 2.1.0-beta comes before 2.1.0
      if (one !== other) return /^\d/.test(one) ? 1 : /^\d/.test(other) ? -1 : one < other ? -1 : 1
    } else if (order !== 0) return order
  }
  return 0
}

/** The agent and the version of a value such as `claude-code 2.1.330`. */
const agentIn = (value: string) => value.slice(0, value.lastIndexOf(' '))
const versionOf = (value: string) => value.slice(value.lastIndexOf(' ') + 1)

/** The change, if a unit made it after its start; `weeks`: of who had the value in two weeks or more, the first. */
function noticedOf(
  trait: string,
  value: string,
  weeks: ReadonlyMap<string, number>,
  starts: ReadonlyMap<string, number>,
): Noticed[] {
  const adopted = new Map(
    [...weeks].map(([unit, week]) => [unit, week <= (starts.get(unit) ?? 0) ? FROM_START : week] as const),
  )
  return [...adopted.values()].some((week) => week !== FROM_START) ? [{ trait, value, adopted }] : []
}

type Spans = Map<string, { first: number; last: number }>

function widen(spans: Spans, rows: readonly Used[]): void {
  for (const { unit, first, last } of rows) {
    const span = spans.getOrInsertComputed(unit, () => ({ first, last }))
    span.first = Math.min(span.first, first)
    span.last = Math.max(span.last, last)
  }
}

/** Changes by values that calls have, each noticed where a unit had it in two weeks. */
export function noticeUsed(used: readonly Used[], starts: ReadonlyMap<string, number>): Noticed[] {
  const noticed: Noticed[] = []
  const take = (rows: readonly Used[], spans: Spans) => {
    widen(spans, rows)
    const [first] = rows
    if (first === undefined || !rows.some((row) => row.first < row.last)) return
    const weeks = [...spans].flatMap(([unit, span]) =>
      span.first < span.last ? [[unit, span.first] as const] : [],
    )
    noticed.push(...noticedOf(first.trait, first.value, new Map(weeks), starts))
  }
  const values = [...Map.groupBy(used, ({ trait, value }) => `${trait}\n${value}`).values()]
  const isVersion = ([row]: readonly Used[]) => row?.trait === 'version'
  for (const rows of values) if (!isVersion(rows)) take(rows, new Map())
  const usedValue = ([row]: readonly Used[]) => row?.value ?? ''
  for (const versions of Map.groupBy(values.filter(isVersion), (rows) => agentIn(usedValue(rows))).values()) {
    // who has a later version has changed, too: the newest comes first
    versions.sort((a, b) => compareVersions(versionOf(usedValue(b)), versionOf(usedValue(a))))
    const spans: Spans = new Map()
    for (const rows of versions) take(rows, spans)
  }
  return noticed
}

/** The share of a value in a week; undefined in one without any. */
type ShareOf = (week: WeekOfUnit, value: string) => number | undefined

/** The changes to values whose share rises from below 10 % to above 50 % within four weeks. */
function noticeShares(
  trait: string,
  units: ReadonlyMap<string, readonly WeekOfUnit[]>,
  valuesOf: (week: WeekOfUnit) => Iterable<string>,
  shareOf: ShareOf,
  starts: ReadonlyMap<string, number>,
): Noticed[] {
  const changes = new Map<string, { adopted: Map<string, number>; isNoticed: boolean }>()
  for (const [unit, weeks] of units) {
    const high = new Map<string, number[]>()
    for (const one of weeks)
      for (const value of valuesOf(one))
        if ((shareOf(one, value) ?? 0) > HIGH) high.getOrInsertComputed(value, () => []).push(one.week)
    for (const [value, its] of high) {
      if (its.length < 2) continue
      const change = changes.getOrInsertComputed(value, () => ({ adopted: new Map(), isNoticed: false }))
      change.adopted.set(unit, Math.min(...its))
      change.isNoticed ||= weeks.some(
        (one) =>
          (shareOf(one, value) ?? HIGH) < LOW &&
          its.some((later) => later > one.week && later <= one.week + RISE_WEEKS),
      )
    }
  }
  return [...changes].flatMap(([value, { adopted, isNoticed }]) =>
    isNoticed ? noticedOf(trait, value, adopted, starts) : [],
  )
}

export function noticeSharesOf(weeks: readonly WeekOfUnit[], starts: ReadonlyMap<string, number>): Noticed[] {
  const units = Map.groupBy(weeks, ({ unit }) => unit)
  const shareOf: ShareOf = ({ all, calls }, model) => (all === 0 ? undefined : (calls.get(model) ?? 0) / all)
  const ofHour: ShareOf = ({ written, writtenForHour }) =>
    written === 0 ? undefined : writtenForHour / written
  return [
    ...noticeShares('model', units, ({ calls }) => calls.keys(), shareOf, starts),
    ...noticeShares('cache_lifetime', units, () => [HOUR], ofHour, starts),
  ]
}

/**
 * Changes of prices. `changedIn`: the last week in which a model's price changed, between the first and the last week with
 * work. Units that called it in the eight weeks before changed when they called it since; others are no part of it.
 */
export function noticePrices(
  weeks: readonly WeekOfUnit[],
  models: readonly string[],
  starts: ReadonlyMap<string, number>,
  changedIn: (model: string) => number | undefined,
): Noticed[] {
  return models.flatMap((model) => {
    const at = changedIn(model)
    if (at === undefined) return []
    const calling = weeks.filter(({ calls }) => (calls.get(model) ?? 0) > 0)
    const adopted = new Map<string, number>()
    for (const [unit, own] of Map.groupBy(calling, (one) => one.unit)) {
      const since = own.flatMap(({ week }) => (week >= at ? [week] : []))
      const hadIt = own.some(({ week }) => week < at && week >= at - 8)
      if (since.length >= 2 && hadIt) adopted.set(unit, Math.min(...since))
    }
    return noticedOf('price', model, adopted, starts)
  })
}
