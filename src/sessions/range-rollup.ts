import type { ISql } from '../db/client.ts'
import { unnest } from '../db/rows.ts'
import { decimalText, MONEY_DECIMALS, unitsOf } from '../decimals.ts'

/** The ranges of a session's cost and turns are found by these fields. */
export interface Ranked {
  id: string
  project: string
  /** micro-dollars */
  cost: bigint
  turns: number
}

export type RangeSort = 'cost' | 'turns'
type Grain = 'narrow' | 'wide'

/** A position in the order of a list. Its value is in millionths, of a dollar or a turn: an integer below 2^53. */
interface Position {
  value: number
  id: string
}

/** A range that begins at its position and ends before the next of its list. */
interface Range extends Position {
  grain: Grain
  sessions: number
  /** The number to add to `sessions`. */
  change: number
}

interface RangeRow {
  sort: RangeSort
  grain: Grain
  project: string
  from_value: string
  from_id: string
  sessions: number
}

/** The sessions of a project, or of '' (all), in the order of one sort. */
interface List {
  sort: RangeSort
  project: string
  changes: (Position & { change: 1 | -1 })[]
}

const ALL_PROJECTS = ''
const MILLION = 10 ** MONEY_DECIMALS
const START: Position = { value: 0, id: '' }

/**
 * Ranges of more sessions are divided, into ranges of half as many at least. A page skips at most MAX.narrow sessions,
 * and adds up the wide ranges, some 25 of a million sessions, and the narrow ones of one wide range.
 */
const MAX: Record<Grain, number> = { narrow: 2_048, wide: 65_536 }

/** Compares like PostgreSQL's collation "C": ids are ASCII. */
const isAtOrBefore = (a: Position, b: Position): boolean =>
  a.value < b.value || (a.value === b.value && a.id <= b.id)

/**
 * Updates the counts of sessions in ranges of cost and of turns by the difference between `before` and `after`: the same
 * sessions as they were stored (a new one was not) and as they are now. Needs the organization's lock, in the
 * transaction that writes the sessions and after their rows.
 */
export async function updateRanges(
  tx: ISql,
  orgId: string,
  before: readonly Ranked[],
  after: readonly Ranked[],
): Promise<void> {
  const lists = listsOf(before, after)
  if (lists.length === 0) return
  const known = await findRanges(tx, orgId, lists)
  const changed = lists.flatMap((list) => {
    const ranges = known.get(listKeyOf(list)) ?? []
    return applyChanges(ranges, list).map((range) => ({ list, range }))
  })
  await addToRanges(tx, orgId, changed)
  const full = changed.filter(({ range }) => range.sessions + range.change > MAX[range.grain])
  // the bounds of wide ranges are chosen among those of narrow ones
  for (const { list, range } of full) if (range.grain === 'narrow') await divideNarrow(tx, orgId, list, range)
  for (const { list, range } of full) if (range.grain === 'wide') await divideWide(tx, orgId, list, range)
}

const listKeyOf = ({ sort, project }: Pick<List, 'sort' | 'project'>): string => `${sort} ${project}`

function listsOf(before: readonly Ranked[], after: readonly Ranked[]): List[] {
  const lists = new Map<string, List>()
  const add = (sort: RangeSort, project: string, position: Position, change: 1 | -1) => {
    const key = listKeyOf({ sort, project })
    let list = lists.get(key)
    if (list === undefined) {
      list = { sort, project, changes: [] }
      lists.set(key, list)
    }
    list.changes.push({ ...position, change })
  }
  const addAll = (sessions: readonly Ranked[], change: 1 | -1) => {
    for (const { id, project, cost, turns } of sessions) {
      for (const list of new Set([project, ALL_PROJECTS])) {
        add('cost', list, { value: Number(cost), id }, change)
        add('turns', list, { value: turns * MILLION, id }, change)
      }
    }
  }
  addAll(before, -1)
  addAll(after, 1)
  return [...lists.values()]
}

const valueText = (value: number): string => decimalText(BigInt(value), MONEY_DECIMALS)

/** The ranges that the lists' changes may be in, in order; of small changes in a large list only some. */
async function findRanges(tx: ISql, orgId: string, lists: readonly List[]): Promise<Map<string, Range[]>> {
  const spans = lists.map(({ sort, project, changes }) => {
    let [least, most] = [changes[0]?.value ?? 0, 0]
    for (const { value } of changes) {
      if (value < least) least = value
      if (value > most) most = value
    }
    return { sort, project, least: valueText(least), most: valueText(most) }
  })
  const rows = await tx<RangeRow[]>`
    select r.sort, r.grain, r.project, r.from_value, r.from_id, r.sessions
    from ${unnest(tx, spans, { sort: 'text', project: 'text', least: 'numeric', most: 'numeric' })}
    cross join (values ('narrow'), ('wide')) as g (grain)
    cross join lateral (
      select b.*
      from session_ranges b
      where b.org_id = ${orgId}
        and b.sort = n.sort
        and b.grain = g.grain
        and b.project = n.project
        and b.from_value <= n.most
        -- an id of the least value may be in a range that begins at a lower value
        and b.from_value >= coalesce((
          select max(l.from_value)
          from session_ranges l
          where l.org_id = ${orgId}
            and l.sort = n.sort
            and l.grain = g.grain
            and l.project = n.project
            and l.from_value < n.least
        ), 0)
    ) r
    order by r.sort, r.project, r.grain, r.from_value, r.from_id`
  const ranges = new Map<string, Range[]>()
  for (const { grain, from_value, from_id, sessions, ...list } of rows) {
    const key = listKeyOf(list)
    const range = { grain, value: Number(unitsOf(from_value)), id: from_id, sessions, change: 0 }
    const known = ranges.get(key)
    if (known === undefined) ranges.set(key, [range])
    else known.push(range)
  }
  return ranges
}

/** The ranges that change, with what is to be added to each. A list without ranges gets its first ones. */
function applyChanges(known: readonly Range[], { changes }: List): Range[] {
  const first = (grain: Grain): Range[] => [{ grain, ...START, sessions: 0, change: 0 }]
  const of = (grain: Grain) => known.filter((range) => range.grain === grain)
  const [narrow, wide] = known.length === 0 ? [first('narrow'), first('wide')] : [of('narrow'), of('wide')]
  for (const position of changes) rangeAt(narrow, position).change += position.change
  const changed = narrow.filter(({ change }) => change !== 0)
  for (const range of changed) rangeAt(wide, range).change += range.change
  return [...changed, ...wide.filter(({ change }) => change !== 0)]
}

/** The last range that begins at or before the position; `ranges` are in order. */
function rangeAt(ranges: readonly Range[], position: Position): Range {
  let [from, to] = [0, ranges.length]
  while (to - from > 1) {
    const middle = (from + to) >> 1
    const range = ranges[middle]
    if (range !== undefined && isAtOrBefore(range, position)) from = middle
    else to = middle
  }
  const found = ranges[from]
  if (found === undefined)
    throw new Error('session_ranges has no range of the grain: doctor --repair mends it')
  return found
}

async function addToRanges(
  tx: ISql,
  orgId: string,
  changed: readonly { list: List; range: Range }[],
): Promise<void> {
  if (changed.length === 0) return
  await tx`
    insert into session_ranges as r (org_id, sort, grain, project, from_value, from_id, sessions)
    select ${orgId}, n.*
    from ${unnest(tx, changed, {
      sort: ['text', ({ list }) => list.sort],
      grain: ['text', ({ range }) => range.grain],
      project: ['text', ({ list }) => list.project],
      from_value: ['numeric', ({ range }) => valueText(range.value)],
      from_id: ['text', ({ range }) => range.id],
      sessions: ['integer', ({ range }) => range.change],
    })}
    on conflict (org_id, sort, grain, project, from_value, from_id) do update set
      sessions = r.sessions + excluded.sessions`
}

/** Divides a narrow range into equal parts: its sessions are those that follow its bound. */
async function divideNarrow(tx: ISql, orgId: string, { sort, project }: List, range: Range): Promise<void> {
  const sessions = range.sessions + range.change
  const part = Math.ceil(sessions / Math.floor(sessions / (MAX.narrow / 2)))
  const [value, from] =
    sort === 'cost'
      ? [tx`s.estimated_cost`, tx`${valueText(range.value)}::numeric`]
      : [tx`s.turns`, tx`${String(range.value / MILLION)}::integer`]
  await tx`
    insert into session_ranges as r (org_id, sort, grain, project, from_value, from_id, sessions)
    select
      ${orgId}, ${sort}, 'narrow', ${project},
      case k.place when 0 then ${valueText(range.value)}::numeric else k.value end,
      case k.place when 0 then ${range.id}::text else k.id end,
      least(${part}::integer, ${sessions}::integer - k.place)
    from (
      select k.value, k.id, row_number() over (order by k.value, k.id collate "C") - 1 as place
      from (
        select ${value} as value, s.id
        from sessions s
        where s.org_id = ${orgId}
          ${project === ALL_PROJECTS ? tx`` : tx`and s.project = ${project}`}
          and (${value}, s.id collate "C") >= (${from}, ${range.id})
        order by ${value}, s.id collate "C"
        limit ${sessions}
      ) k
    ) k
    where k.place % ${part}::integer = 0
    on conflict (org_id, sort, grain, project, from_value, from_id) do update set
      sessions = excluded.sessions`
}

/** Divides a wide range into parts of whole narrow ranges. */
async function divideWide(tx: ISql, orgId: string, { sort, project }: List, range: Range): Promise<void> {
  const sessions = range.sessions + range.change
  const part = Math.ceil(sessions / Math.floor(sessions / (MAX.wide / 2)))
  await tx`
    insert into session_ranges as r (org_id, sort, grain, project, from_value, from_id, sessions)
    select
      ${orgId}, ${sort}, 'wide', ${project}, p.from_value, p.from_id,
      coalesce(lead(p.before) over (order by p.before), ${sessions}::integer) - p.before
    from (
      select distinct on (k.part) k.from_value, k.from_id, k.before
      from (
        select n.from_value, n.from_id, n.before, n.before / ${part}::integer as part
        from (
          select
            n.from_value, n.from_id,
            (sum(n.sessions) over (order by n.from_value, n.from_id) - n.sessions)::integer as before
          from session_ranges n
          where n.org_id = ${orgId}
            and n.sort = ${sort}
            and n.grain = 'narrow'
            and n.project = ${project}
            and (n.from_value, n.from_id) >= (${valueText(range.value)}::numeric, ${range.id})
        ) n
        where n.before < ${sessions}
      ) k
      order by k.part, k.from_value, k.from_id
    ) p
    on conflict (org_id, sort, grain, project, from_value, from_id) do update set
      sessions = excluded.sessions`
}
