// Loads breakdowns of cost for charts and tables of many pages: their keys and names, colours, periods, changes.

import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import type { FirstDays } from '../../features/cost/first-days-model.ts'
import type { Series } from '../charts/period-chart.tsx'
import { getJson, type Loaded, pathOf, useLoaded } from '../client/api.ts'
import { datesIn, finestGranularity, type Granularity, periodsOf, type Range } from '../client/days.ts'
import { NONE, type Query } from '../client/links.ts'
import { getKept } from '../client/lists.ts'
import { FACETS, fieldOf } from '../frame/filter-fields.ts'

/** Colours of the style sheet for names; `--s6` is that of the rest. */
const COLORS = [0, 1, 2, 3, 4, 5, 7, 8]
/** The keys of which the API lists values in the order of their first appearance. */
const ORDERED: readonly string[] = ['project', 'member', 'team', 'model', 'agent', 'branch']

/**
 * Loads a function that gives names their colours: by the order of their first appearance, so that a name keeps its colour
 * whatever it costs. Of two shown names with the same one, the later takes the next that is free.
 */
export async function loadColors(key: string) {
  const firstDays = ORDERED.includes(key)
    ? await getKept<FirstDays>(`/cost/first-days?by=${key}`).catch(() => undefined)
    : undefined
  const order = new Map(firstDays?.data.map((one, index) => [one.key, index]))
  return (shown: readonly string[]): ReadonlyMap<string, number> => {
    const rankOf = (name: string) => order.get(name) ?? order.size
    const counts = new Map<string, number>()
    for (const name of shown.toSorted((a, b) => rankOf(a) - rankOf(b) || (a < b ? -1 : 1))) {
      const used = new Set(counts.values())
      const from = rankOf(name) % COLORS.length
      const next = [...COLORS.slice(from), ...COLORS.slice(0, from)]
      counts.set(name, next.find((color) => !used.has(color)) ?? next[0] ?? 0)
    }
    return counts
  }
}

/** Sessions and their cost have these keys; a narrowed breakdown goes on in this order. */
export const KEYS = ['project', 'member', 'team', 'model', 'agent', 'branch', 'ticket'] as const
export type Key = (typeof KEYS)[number] | keyof typeof FACETS
/** Whether agents write the key on calls: of two such keys at once nothing is summed. */
export const isFacet = (key: string): key is keyof typeof FACETS => key in FACETS
/** `GET /v1/cost/breakdown` sums by these keys. */
export const COST_KEYS: readonly Key[] = [...KEYS, ...Object.keys(FACETS).filter(isFacet)]
/** The keys with their names, to choose one. */
export const KEY_OPTIONS = COST_KEYS.map((key) => [key, fieldOf(key).label] as const)

/** The name of a key within a sentence. */
export const wordOf = (key: Key): string =>
  key === 'paid_by' ? 'payer' : fieldOf(key).label.replace(/^[A-Z](?=[a-z-])/, (first) => first.toLowerCase())

/** Keys that a chart shows at first: half of them cost most, the others changed most; the rest is drawn together. */
export const SHOWN = 6
const PAGE = 100
/** Requests that a page makes at most for its chart. */
export const CHART_REQUESTS = 3

/** The API's name of the rest. */
export const OTHERS = '(others)'

/** Costs of the range's periods, stacked by the keys that cost most. */
interface Stack {
  periods: string[]
  series: (Series & { key: string | null | undefined })[]
}

/** The finest period of which the chart reads nearly all cells. */
export const stackGranularity = (range: Range, shown: number, requests: number): Granularity =>
  finestGranularity(range, Math.floor((requests * PAGE) / shown))

/** The costs of each period by `key`: those that cost most and, against other days, changed most; the others together. */
export function useStack(
  key: Key,
  granularity: Granularity,
  range: Range,
  filters: Query,
  {
    shown = SHOWN,
    compare,
    requests = 1,
  }: { shown?: number; compare?: string | undefined; requests?: number } = {},
): Loaded<Stack> {
  const periods = periodsOf(range, granularity)
  const query = {
    ...filters,
    ...datesIn(range),
    by: granularity,
    and_by: key,
    // a range of many years has fewer keys in as many cells
    top: Math.max(1, Math.min(shown, Math.floor((requests * PAGE) / Math.max(1, periods.length)) - 1)),
    ...(compare !== undefined && { compare, top_by: 'cost_and_change' }),
    sort: 'key',
    order: 'asc',
    per_page: PAGE,
  }
  return useLoaded(JSON.stringify(query), async (signal) => {
    const read = (page: number) =>
      getJson<Breakdown>(pathOf('/cost/breakdown', { ...query, page }), { signal })
    const [first, colors] = await Promise.all([read(1), loadColors(key)])
    const pages = Math.min(requests, Math.ceil(first.pagination.total / PAGE))
    const later = await Promise.all(Array.from({ length: Math.max(0, pages - 1) }, (_, at) => read(at + 2)))
    const cells = [first, ...later].flatMap(({ data }) => data)
    const series = [...Map.groupBy(cells, ({ and_key }) => and_key ?? null)].map(([name, items]) => {
      const costs = new Map(items.map((item) => [item.key, item.cost]))
      return {
        key: name === OTHERS ? undefined : name,
        name: name ?? NONE,
        isRest: name === OTHERS || name === null,
        values: periods.map((period) => costs.get(period) ?? 0),
      }
    })
    const seriesSum = ({ values }: Series) => values.reduce((sum, value) => sum + value, 0)
    const isLast = (one: { key: string | null | undefined }) => (one.key === undefined ? 1 : 0)
    series.sort((a, b) => isLast(a) - isLast(b) || seriesSum(b) - seriesSum(a))
    const colored = colors(series.flatMap(({ key }) => key ?? []))
    return { periods, series: series.map((one) => ({ ...one, color: colored.get(one.key ?? '') })) }
  })
}

interface Compared {
  now: number
  before: number
}
type Keys = Pick<Breakdown['data'][number], 'key' | 'and_key'>

/** The days that figures are compared with, as the API's `compare`. */
export const comparedWith = (days: Record<'now' | 'before', Range> | undefined): string | undefined =>
  days && `${days.before.from}..${days.before.to}`

/** The costs of a breakdown beside those that it is compared with; undefined for a key that is not among its rows. */
export function changesOf({ data, total, pagination }: Breakdown) {
  const compared = (item: Pick<Breakdown['total'], 'cost' | 'previous'>): Compared => ({
    now: item.cost,
    before: item.previous?.cost ?? 0,
  })
  const costs = new Map(data.map((item) => [keyOf(item), compared(item)]))
  const isWhole = pagination.total <= data.length
  return {
    total: compared(total),
    ofKey: (item: Keys) => costs.get(keyOf(item)) ?? (isWhole ? { now: 0, before: 0 } : undefined),
  }
}

const keyOf = ({ key, and_key }: Keys) => JSON.stringify([key, and_key])

/**
 * The sums of the members who cost most in the range, by id, a hundred for each of `pages`. `isWhole`: one that is not
 * among them has no session.
 */
export function useMemberCosts(range: Range, pages: number) {
  const query = { by: 'member', per_page: PAGE, ...datesIn(range) }
  return useLoaded(JSON.stringify(['member costs', query, pages]), async (signal) => {
    const read = (page: number) =>
      getJson<Breakdown>(pathOf('/cost/breakdown', { ...query, page }), { signal })
    const all = await Promise.all(Array.from({ length: pages }, (_, index) => read(index + 1)))
    const total = all[0]?.pagination.total ?? 0
    const items = all.flatMap(({ data }) => data)
    return { byId: new Map(items.map((item) => [item.key, item])), isWhole: items.length >= total }
  })
}
