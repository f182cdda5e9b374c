// Declares the sums by week from which effects of changes are measured.

import type { ISql } from '../../database/client.ts'
import { rollup, tableRows } from '../../database/rollups.ts'
import { EXPLAINED } from './model.ts'

/** The columns of session_usage that are summed. */
const SPENT = ['tool_results', 'tool_errors', ...EXPLAINED]

/** Work by week (from Monday, of the organization's zone): what effects of changes are measured from. */
export const WORK_ROLLUP = rollup({
  name: 'work_rollups',
  key: ['week', 'member', 'project', 'model', 'price'],
  prefix: ['week', 'member'],
  // a session counts in the week in which it began; its quality is in hundredths
  sums: ['sessions', 'quality', ...SPENT],
  rows: tableRows('session_usage'),
  count: (sql, rows) => sql`
    select
      date_trunc('week', s.day::timestamp)::date as week, s.member, s.project, s.model, s.price,
      count(*) filter (where s.is_main) as sessions,
      coalesce(sum((s.quality_score * 100)::integer) filter (where s.is_main), 0) as quality,
      ${sql.unsafe(SPENT.map((column) => `sum_bigint(s.${column}) as ${column}`).join(', '))}
    ${rows}
    group by 1, 2, 3, 4, 5
    -- of a model without calls there is nothing
    having count(*) filter (where s.is_main) + sum(${sql.unsafe(SPENT.map((column) => `s.${column}`).join(' + '))}) > 0`,
  describe: ({ week, project, model }) =>
    `work of the week ${week} on ${project || 'no project'} with ${model}`,
})

/** The traits that calls have values of. */
const TRAITS = ['version', 'effort', 'skill', 'mcp_server']

/** Calls by the values of traits, of members by week: when somebody took up a value is seen in these. */
export const TRAIT_ROLLUP = rollup({
  name: 'trait_rollups',
  key: ['trait', 'value', 'member', 'week'],
  prefix: ['trait', 'value'],
  sums: ['calls'],
  rows: tableRows('session_facets'),
  count: (sql, rows) => sql`
    select
      v.trait, v.value, s.member, date_trunc('week', s.day::timestamp)::date as week, sum_bigint(s.calls) as calls
    from (select s.* ${rows}) s
    cross join lateral (
      values ${sql.unsafe(TRAITS.map((trait) => `('${trait}', s.${trait})`).join(', '))}
    ) as v (trait, value)
    where v.value <> ''
      and s.calls > 0
    group by 1, 2, 3, 4`,
  describe: ({ trait, value, week }) => `calls of the week ${week} with ${trait} ${value}`,
})

/** Notes that the work of the weeks of these sessions changes: what was measured from them is measured again. */
export async function touchWeeks(tx: ISql, orgId: string, sessions: readonly string[]): Promise<void> {
  if (sessions.length === 0) return
  await tx`
    insert into work_weeks as w (org_id, week, version)
    select distinct ${orgId}, date_trunc('week', s.day::timestamp)::date, 1
    from session_usage s
    where s.org_id = ${orgId}
      and s.session_id = any(${[...sessions]}::text[])
    on conflict (org_id, week) do update set version = w.version + 1`
}

/** The same of all weeks in which these people worked. */
export async function touchWorkOf(tx: ISql, orgId: string, members: readonly string[]): Promise<void> {
  if (members.length === 0) return
  await tx`
    update work_weeks w
    set version = w.version + 1
    where w.org_id = ${orgId}
      and w.week in (
        select r.week
        from work_rollups r
        where r.org_id = ${orgId}
          and r.member = any(${[...new Set(members)]}::text[])
      )`
}
