import type { Breakdown } from '../../cost/breakdown-model.ts'
import type { TeamOverview } from '../../team/model.ts'
import type { Series } from '../charts/period-chart.tsx'
import { getJson, type Loaded, pathOf, type Query, useLoaded } from '../client/api.ts'
import { type granularityOf, periodsOf, type Range } from '../client/days.ts'

/** What `GET /v1/cost/breakdown` sums by. */
export const KEYS = ['project', 'member', 'model', 'agent', 'branch'] as const
export type Key = (typeof KEYS)[number]
type Granularity = ReturnType<typeof granularityOf>

export type Sums = Breakdown['total']

/** Keys that a chart tells apart; the rest is drawn together. */
const SHOWN = 6
const PAGE = 100
/** Pages of cells that a chart reads at most. */
const MAX_PAGES = 10
export const NONE = '(none)'
const OTHERS = '(all others)'

/** Costs of the range's periods, stacked by the keys that cost most, and the sum of all. */
export interface Stack {
  periods: string[]
  /** Their keys, `NONE` and `OTHERS` for what has none of its own. */
  series: Series[]
  total: Sums
}

/**
 * Loads the costs of each period by `key`. The most expensive keys are asked for one by one, where a session has one value
 * of the key and it can be a filter; by model, all cells are read.
 */
export function useStack(key: Key, granularity: Granularity, range: Range, filters: Query): Loaded<Stack> {
  const dates = { ...filters, date_from: range.from, date_to: range.to }
  return useLoaded(JSON.stringify([key, granularity, dates]), async (signal) => {
    const read = (query: Query) =>
      getJson<Breakdown>(pathOf('/cost/breakdown', { ...dates, ...query }), { signal })
    const all = { by: granularity, sort: 'key', order: 'asc', per_page: PAGE }
    const [top, whole] = await Promise.all([read({ by: key, per_page: SHOWN }), readAll(read, all)])
    const keys = top.data.map((item) => item.key)
    const cells = key === 'model' ? await byModel(read, granularity) : await oneByOne(read, key, keys, all)
    const periods = periodsOf(range, granularity)
    const valuesOf = (items: Breakdown['data']) => {
      const costs = new Map(items.map((item) => [item.key, item.cost]))
      return periods.map((period) => costs.get(period) ?? 0)
    }
    const series = keys.flatMap((name) => {
      const items = cells.get(name)
      return items === undefined ? [] : [{ name: name ?? NONE, values: valuesOf(items) }]
    })
    const sums = valuesOf(whole)
    const rest = sums.map((sum, index) => {
      const shown = series.reduce((part, { values }) => part + (values[index] ?? 0), 0)
      // below a millionth is what the addition of decimals leaves over
      return sum - shown < 1e-6 ? 0 : sum - shown
    })
    if (rest.some((value) => value > 0)) series.push({ name: OTHERS, values: rest })
    return { periods, series, total: top.total }
  })
}

type Read = (query: Query) => Promise<Breakdown>

/** Items of the list, of the first `MAX_PAGES` pages at most. */
async function readAll(read: Read, query: Query): Promise<Breakdown['data']> {
  return (await readPages(read, query)).items
}

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

async function oneByOne(
  read: Read,
  key: Key,
  names: readonly (string | null)[],
  query: Query,
): Promise<Map<string | null, Breakdown['data']>> {
  // a filter cannot ask for what has no value: that is with the others
  const asked = names.filter((name) => name !== null)
  const items = await Promise.all(asked.map((name) => readAll(read, { ...query, [key]: name })))
  return new Map(asked.map((name, index) => [name, items[index] ?? []]))
}

async function byModel(read: Read, granularity: Granularity): Promise<Map<string | null, Breakdown['data']>> {
  const cells = await readAll(read, { by: granularity, and_by: 'model', sort: 'cost', per_page: PAGE })
  return Map.groupBy(cells, (cell) => cell.and_key ?? null)
}
