import type { Breakdown } from '../../cost/breakdown-model.ts'
import type { TeamOverview } from '../../team/model.ts'
import type { Series } from '../charts/period-chart.tsx'
import { getJson, type Loaded, pathOf, type Query, useLoaded } from '../client/api.ts'
import { type granularityOf, periodsOf, type Range } from '../client/days.ts'

/** What `GET /v1/cost/breakdown` sums by. */
export const KEYS = ['project', 'member', 'model', 'agent', 'branch', 'ticket'] as const
export type Key = (typeof KEYS)[number]
type Granularity = ReturnType<typeof granularityOf>

export type Sums = Breakdown['total']

/** Keys that a chart tells apart; the rest is drawn together. */
const SHOWN = 6
const PAGE = 100
/** Pages of cells that a chart reads at most. */
const MAX_PAGES = 10
export const NONE = '(none)'
/** As the API names them. */
const OTHERS = '(others)'

/** Costs of the range's periods, stacked by the keys that cost most, and the sum of all. */
export interface Stack {
  periods: string[]
  /** Their keys, `NONE` and `OTHERS` for what has none of its own. */
  series: Series[]
  total: Sums
}

/** Loads the costs of each period by `key`: those that cost most, and the others together. */
export function useStack(key: Key, granularity: Granularity, range: Range, filters: Query): Loaded<Stack> {
  const dates = { ...filters, date_from: range.from, date_to: range.to }
  return useLoaded(JSON.stringify([key, granularity, dates]), async (signal) => {
    const query = {
      ...dates,
      by: granularity,
      and_by: key,
      top: SHOWN,
      sort: 'key',
      order: 'asc',
      per_page: PAGE,
    }
    const first = await getJson<Breakdown>(pathOf('/cost/breakdown', query), { signal })
    const pages = Math.min(MAX_PAGES, Math.ceil(first.pagination.total / PAGE))
    const later = await Promise.all(
      Array.from({ length: Math.max(0, pages - 1) }, (_, index) =>
        getJson<Breakdown>(pathOf('/cost/breakdown', { ...query, page: index + 2 }), { signal }),
      ),
    )
    const cells = [first, ...later].flatMap(({ data }) => data)
    const periods = periodsOf(range, granularity)
    const series = [...Map.groupBy(cells, ({ and_key }) => and_key ?? null)].map(([name, items]) => {
      const costs = new Map(items.map((item) => [item.key, item.cost]))
      return { name: name ?? NONE, values: periods.map((period) => costs.get(period) ?? 0) }
    })
    const sumOf = ({ values }: Series) => values.reduce((sum, value) => sum + value, 0)
    const isLast = ({ name }: Series) => (name === OTHERS ? 1 : 0)
    series.sort((a, b) => isLast(a) - isLast(b) || sumOf(b) - sumOf(a))
    return { periods, series, total: first.total }
  })
}

type Read = (query: Query) => Promise<Breakdown>

/** Items of the list, of the first `MAX_PAGES` pages at most. */
async function readPages(read: Read, query: Query): Promise<{ items: Breakdown['data']; isWhole: boolean }> {
  const items: Breakdown['data'] = []
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const { data, pagination } = await read({ ...query, page })
    items.push(...data)
    if (items.length >= pagination.total) return { items, isWhole: true }
  }
  return { items, isWhole: false }
}

/** What each member of the range cost, by id. `isWhole`: one that is not among them has no session. */
export function useMemberCosts(range: Range) {
  const query = { by: 'member', per_page: PAGE, date_from: range.from, date_to: range.to }
  return useLoaded(JSON.stringify(['member costs', query]), async (signal) => {
    const read = (part: Query) => getJson<Breakdown>(pathOf('/cost/breakdown', part), { signal })
    const { items, isWhole } = await readPages(read, query)
    return { byId: new Map(items.map((item) => [item.key, item])), isWhole }
  })
}

/** Names of the members by id, none where the key may not read them; asked for only where they are needed. */
export function useMemberNames(isNeeded: boolean): ReadonlyMap<string | null, string> {
  const names = useLoaded(`member names ${isNeeded}`, async (signal) => {
    if (!isNeeded) return new Map<string | null, string>()
    const { members } = await getJson<TeamOverview>('/team', { signal })
    return new Map<string | null, string>(members.map(({ id, display_name }) => [id, display_name]))
  })
  return names.state === 'ready' ? names.value : new Map()
}

/** Distinct members with a session in the range. */
export function useMemberCount(range: Range): Loaded<number> {
  const query = {
    by: 'member',
    sort: 'key',
    order: 'asc',
    per_page: 1,
    date_from: range.from,
    date_to: range.to,
  }
  return useLoaded(JSON.stringify(['member count', query]), async (signal) => {
    const read = (page: number) =>
      getJson<Breakdown>(pathOf('/cost/breakdown', { ...query, page }), { signal })
    const { total } = (await read(1)).pagination
    if (total === 0) return 0
    // sessions of nobody are one key, the last
    const [last] = (await read(total)).data
    return last?.key === null ? total - 1 : total
  })
}
