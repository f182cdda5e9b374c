import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import type { Sql } from '../../database/client.ts'
import { comparedRange } from '../usage/sums.ts'
import type { Group, Outcome, Outcomes, OutcomesQuery } from './model.ts'
import { OUTCOME_SUMS, sharedTables, sourcesBy } from './source-queries.ts'

/** Sums of one group; texts, since PostgreSQL's sums are longer than a JavaScript number is exact. */
type SumsRow = Record<(typeof OUTCOME_SUMS)[number], string> & { key: string | null }

/** The outcomes of each group, and of all, as of one instant. With `onlyMember` the other members are one group. */
export async function getOutcomes(
  sql: Sql,
  orgId: string,
  { compare, ...query }: OutcomesQuery,
  options: { onlyMember: VisibleMember | null; today: string },
): Promise<Outcomes> {
  const outcomes = await readOutcomes(sql, orgId, query, options)
  if (compare === undefined) return outcomes
  const other = { ...query, ...comparedRange({ ...query, compare }), page: 1, per_page: 1 }
  const { total: previous } = await readOutcomes(sql, orgId, other, options)
  return { ...outcomes, total: { ...outcomes.total, previous } }
}

async function readOutcomes(
  sql: Sql,
  orgId: string,
  query: Omit<OutcomesQuery, 'compare'>,
  { onlyMember, today }: { onlyMember: VisibleMember | null; today: string },
): Promise<Outcomes> {
  const { by, page, per_page } = query
  // a team's figures may be those of one other member
  const seen = onlyMember !== null && query.team !== undefined ? { ...query, member: onlyMember.id } : query
  const context = { sql, orgId, query: seen, onlyMember, today }
  const isPeriod = by === 'month' || by === 'week'
  const order = isPeriod ? sql`g.key collate "C"` : sql`g.cost desc, g.key collate "C" nulls last`
  const sums = sql.unsafe(OUTCOME_SUMS.map((name) => `sum(r.${name}) as ${name}`).join(', '))
  // a pull request of several agents counts under each, once in all; every other measure adds up
  const all = by === 'agent' ? sourcesBy(context, null) : sql`select * from grouped`
  const [row] = await sql<[{ groups: number; items: SumsRow[] | null; total: SumsRow }]>`
    with ${sharedTables(context)},
    grouped as materialized (
      select r.key, ${sums}
      from (${sourcesBy(context, by)}) r
      group by r.key
    )
    select
      (select count(*)::integer from grouped g) as groups,
      (
        select json_agg(${textsOf(sql)} order by ${order})
        from (
          select g.*
          from grouped g
          order by ${order}
          limit ${per_page}
          offset ${(page - 1) * per_page}
        ) g
      ) as items,
      (
        select ${textsOf(sql)}
        from (select null::text as key, ${sums} from (${all}) r) g
      ) as total`
  const { key: _key, ...total } = outcomeOf(row.total, null)
  return {
    data: (row.items ?? []).map((item) => outcomeOf(item, by)),
    pagination: { page, per_page, total: row.groups },
    total,
  }
}

const textsOf = (sql: Sql) =>
  sql.unsafe(
    `json_build_object('key', g.key, ${OUTCOME_SUMS.map((name) => `'${name}', coalesce(g.${name}, 0)::text`).join(', ')})`,
  )

const DECIMALS = 1e6

/** Rounded half up to 6 decimals; null where nothing is divided by. */
const quotient = (part: number, whole: number): number | null =>
  whole === 0 ? null : Math.round((part / whole) * DECIMALS) / DECIMALS

/** `by`: what the sums are of; null: of all. */
function outcomeOf(row: SumsRow, by: Group | null): Outcome {
  const number = (name: Exclude<keyof SumsRow, 'key'>) => Number(row[name])
  const [merged, closed] = [number('merged'), number('closed')]
  const [cost, linked_cost] = [number('cost'), number('linked_cost')]
  const [ai_lines, effective_lines] = [number('ai_lines'), number('effective_lines')]
  const survival = (days: 14 | 30) => {
    const [lines, of] = [number(`survival_${days}`), number(`of_${days}`)]
    return { lines, of, share: quotient(lines, of) }
  }
  const isDivided = by !== 'agent'
  return {
    key: row.key,
    pull_requests: { open: number('open'), merged, closed },
    merge_rate: quotient(merged, merged + closed),
    cost,
    linked_cost,
    linked_share: quotient(number('linked_of_cost'), cost),
    cost_per_merged_pull_request: quotient(linked_cost, merged),
    commits: isDivided ? number('commits') : null,
    effective_lines: isDivided ? effective_lines : null,
    ai_lines,
    ai_share: isDivided ? quotient(ai_lines, effective_lines) : null,
    survival: isDivided ? { '14': survival(14), '30': survival(30) } : null,
  }
}
