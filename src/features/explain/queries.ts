// Reads what explains a change of cost: sums before and after, first uses, budgets.

import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { daysOf, monthOf, type Span, shortSpansOf } from '../../base/dates.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import { type BudgetScope, budgetInForce, daysOfScope } from '../budgets/scope-queries.ts'
import { facetOf, sharesIn, shareTexts } from '../usage/facet-sources.ts'
import { matching, type UsageFilters, visibleFilters } from '../usage/filters.ts'
import { COSTS, EXPLAINED, PRIVATE, type RangeFilters, type SumKey } from '../usage/model.ts'

import { filteredColumns, matchingShares } from '../usage/sources.ts'
import { columnOfKey, inSpans, OTHERS, selected, signedRows, sumsWith, teamTable } from '../usage/sums.ts'
import type { UsedSums } from './explain.ts'
import type { ExplainQuery } from './model.ts'

/** The days of a range. */
export type Days = Required<Pick<RangeFilters, 'date_from' | 'date_to'>>

type UsedRow = Pick<UsedSums, 'model' | 'price'> & {
  is_after: boolean
  keys: string
  sums: string
}

const PAID = COSTS.filter((name) => name !== 'cost_other').map((name) => `k.${name}`)
/** The sums of UsedSums, of sessions with calls and of others. */
const OF_CALLS = `row(k.cost_other, k.calls, k.prompts, k.input, k.output, k.cache_read, k.cache_creation - k.cache_creation_1h,
  k.cache_creation_1h, ${PAID.join(', ')})`
const OF_NO_CALLS = `row(k.cost_other + ${PAID.join(' + ')})`

/**
 * Sums what was used in a range and in the one that it is compared with, by key, model and what its price was in. With `onlyMember` as
 * the breakdown of cost.
 */
export async function findUsed(
  sql: Sql,
  orgId: string,
  { by, page: _page, per_page: _per_page, against: _against, ...given }: ExplainQuery,
  ranges: { before: Days; after: Days },
  onlyMember: VisibleMember | null,
): Promise<UsedSums[]> {
  const filters = visibleFilters(given, onlyMember)
  const divided = onlyMember !== null && PRIVATE.includes(by) ? onlyMember : null
  const key = by === 'team' ? 'member' : by
  const isDivided = divided !== null
  const keys = [...new Set([...(key === 'model' ? [] : [key]), ...(isDivided ? (['member'] as const) : [])])]
  const columns = [...new Set([key, 'model', 'price', 'has_calls'])].map((name) => `u.${name}`).join(', ')
  const usedIn = (days: Days, isAfter: boolean) => sql`
    select u.*, ${isAfter} as is_after
    from (${priceRows(sql, orgId, { ...filters, ...days }, keys)}) u`
  const used = sql`
    select
      ${sql.unsafe(columns)}, u.is_after, ${divided === null ? sql`true` : sql`u.member = ${divided.id}`} as is_own,
      ${selected(sql, EXPLAINED, (name) => `sum_bigint(u.${name})`)}
    from (${usedIn(ranges.before, false)} union all ${usedIn(ranges.after, true)}) u
    group by ${sql.unsafe(columns)}, u.is_after, is_own`
  const keySql = columnOfKey(sql, by as SumKey)
  // other keys are columns: their rows are summed
  const isSummed = by !== 'team' && !isDivided
  // a row with a column of all keys: rows of each, with a column for each sum, took three times as long to read
  const rows = await sql<UsedRow[]>`
    ${by === 'team' ? sql`with ${teamTable(sql, orgId)}` : sql``}
    select
      k.is_after, k.model, k.price, json_agg(k.key)::text as keys,
      string_agg(${sql.unsafe(`case when k.has_calls then (${OF_CALLS})::text else (${OF_NO_CALLS})::text end`)}, ',') as sums
    from (
      select
        ${divided === null ? keySql : sql`case when r.is_own then ${keySql} else ${OTHERS} end`} as key,
        r.is_after, r.has_calls, r.model, r.price,
        ${selected(sql, EXPLAINED, (name) => (isSummed ? `r.${name}` : `sum_bigint(r.${name})`))}
      from (${used}) r
      ${isSummed ? sql`` : sql`group by 1, 2, 3, 4, 5`}
    ) k
    -- sessions of several models have a row for each, also where no call has the value of a filter
    where ${sql.unsafe(EXPLAINED.map((name) => `${name === 'prompts' ? 'k.has_calls and ' : ''}k.${name} <> 0`).join(' or '))}
    group by k.is_after, k.has_calls, k.model, k.price
    order by k.is_after, k.has_calls, k.model, k.price`
  return rows.map(({ is_after: isAfter, model, price, keys, sums }) => {
    const numbers = JSON.parse(`[${sums.replaceAll('(', '[').replaceAll(')', ']')}]`) as number[][]
    const used = (JSON.parse(keys) as (string | null)[]).map((key, nth) => [key, numbers[nth] ?? []] as const)
    return { isAfter, model, price, used }
  })
}

/** The models and versions of agents that the organization, or the member, used for the first time ever in these days. */
export async function findFirstUses(
  sql: Sql,
  orgId: string,
  { date_from, date_to }: Days,
  onlyMember: VisibleMember | null,
): Promise<{ day: string; kind: 'model' | 'version'; name: string }[]> {
  const uses =
    onlyMember === null
      ? sql`
          select 'model' as kind, r.model as name, r.bucket as day
          from usage_rollups r
          where r.org_id = ${orgId}
            and r.dims = 'agent_model'
            and r.grain = 'day'
          union all
          select 'version', r.value, r.bucket
          from facet_rollups r
          where r.org_id = ${orgId}
            and r.facet = 'version'
            and r.grain = 'day'
            and r.turns > 0`
      : sql`
          select v.kind, v.name, u.day
          from session_usage u
          left join session_facets f
            on f.org_id = ${orgId}
            and f.session_id = u.session_id
            and f.nth = u.nth
            and f.day_turns > 0
          cross join lateral (values ('model', u.model), ('version', coalesce(f.version, ''))) as v (kind, name)
          where u.org_id = ${orgId}
            and u.member = ${onlyMember.id}`
  return await sql<{ day: string; kind: 'model' | 'version'; name: string }[]>`
    select f.day::text as day, f.kind, f.name
    from (
      select m.kind, m.name, min(m.day) as day
      from (${uses}) m
      where m.name <> ''
      group by m.kind, m.name
    ) f
    where f.day between ${date_from} and ${date_to}
    order by f.day, f.kind, f.name collate "C"`
}

/** A budget that holds from the day on, or was exceeded on it. */
export type BudgetDay = BudgetScope & { day: string; limit: string; isExceeded: boolean }

/**
 * The budgets in force from a day of these on, and those exceeded on one: of the organization, its projects and teams; with filters of the
 * organization and theirs. With `onlyMember` none of a team.
 */
export async function findBudgetDays(
  sql: Sql,
  orgId: string,
  { project, team }: Pick<UsageFilters, 'project' | 'team'>,
  { date_from, date_to }: Days,
  onlyMember: VisibleMember | null,
): Promise<BudgetDay[]> {
  const isSeen = (alias: 'b' | 's'): Fragment => {
    const [scope, key] = [sql.unsafe(`${alias}.scope`), sql.unsafe(`${alias}.scope_key`)]
    return sql`
      ${scope} <> 'member'
      ${onlyMember === null ? sql`` : sql`and ${scope} <> 'team'`}
      ${
        project === undefined && team === undefined
          ? sql``
          : sql`and (
              ${scope} = 'organization'
              or (${scope} = 'project' and ${key} = ${project ?? null})
              or (${scope} = 'team' and ${key} = ${team ?? null})
            )`
      }`
  }
  return await sql<BudgetDay[]>`
    select f.day::text as day, f.scope, f.scope_key, trim_scale(f.limit_usd)::text as limit, f.is_exceeded as "isExceeded"
    from (
      select b.month as day, b.scope, b.scope_key, b.limit_usd, false as is_exceeded
      from budgets b
      where b.org_id = ${orgId}
        and ${isSeen('b')}
      union all
      select d.day, s.scope, s.scope_key, b.limit_usd, true
      from (
        select distinct b.scope, b.scope_key, m.month::date as month
        from budgets b
        cross join generate_series(${monthOf(date_from)}::date, ${date_to}::date, interval '1 month') as m (month)
        where b.org_id = ${orgId}
      ) s
      cross join lateral ${budgetInForce(sql, orgId)} b
      cross join lateral (
        select d.day
        from (
          select d.day, sum(d.micros) over (order by d.day rows unbounded preceding) as micros
          from ${daysOfScope(sql, orgId)} d
        ) d
        where d.micros > b.limit_usd * 1000000
        order by d.day
        limit 1
      ) d
      where ${isSeen('s')}
    ) f
    where f.day between ${date_from} and ${date_to}
    order by f.day, f.scope <> 'organization', f.scope, f.scope_key collate "C", f.is_exceeded`
}

/** The columns that usage is explained by, beside its model and price. */
type PriceKey = 'project' | 'member' | 'agent' | 'vendor' | 'branch'

/** The columns of each row of usage by price. */
const ALWAYS = ['model', 'price', 'has_calls']

/**
 * Rows with these columns, `ALWAYS` and `EXPLAINED`, whose sums are those of what matches and was used on the days: some rows are
 * less than 0, and some groups have sums of 0. They are sums of months and days where those are by what is asked for.
 */
function priceRows(sql: ISql, orgId: string, filters: UsageFilters, keys: readonly PriceKey[]): Fragment {
  const facet = facetOf(filters, undefined)
  const columns = [...keys, ...ALWAYS]
  const needed = [...keys, ...filteredColumns(filters).filter((column) => column !== 'model')]
  const priceSums = (grain: Span['grain']) =>
    facet === undefined ? sumsWith(['price_rollups'], grain, needed) : undefined
  const rowsOf = (span: Span, sign: '' | '-'): Fragment => {
    const sums = priceSums(span.grain)
    if (sums === undefined) {
      const { used } = shareTexts(filters, [], facet)
      return sql`
        select
          ${selected(sql, columns, (column) => `u.${column}`)},
          ${selected(sql, EXPLAINED, (column) => `${sign}${used(column)}::bigint`)}
        ${matchingShares(sql, orgId, filters, facet)}
        ${sharesIn(sql, span)}`
    }
    const rows = sql`
      select ${selected(sql, columns, (column) => `r.${column}`)}, ${selected(sql, EXPLAINED, (column) => `${sign}r.${column}`)}
      from price_rollups r
      where r.org_id = ${orgId}
        and r.dims = ${sql.unsafe(`'${sums.dims}'`)}
        ${matching(sql, orgId, filters, 'r')}`
    return inSpans(sql, [span], rows)
  }
  const { date_from, date_to } = filters
  const days = { added: [daysOf(date_from, date_to)], subtracted: [] }
  return signedRows(sql, priceSums('month') === undefined ? days : shortSpansOf(date_from, date_to), rowsOf)
}
