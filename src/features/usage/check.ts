// Computes usage, parts of pull requests and all their sums again, for `doctor`.

import { loadPricer, type Pricer } from '../../analysis/scoring/prices.ts'
import { FACETS } from '../../analysis/usage/model.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import type { CheckedTable, DerivedTable, OrgId, ProgramTable } from '../../database/derived-tables.ts'
import { deleteFrom, unnest } from '../../database/rows.ts'
import { COSTS } from './model.ts'
import { OUTCOME_ROLLUP } from './outcome-rollup.ts'
import { pullRequestShares } from './pull-request-queries.ts'
import { BRANCH_ROLLUP, FACET_ROLLUP, PRICE_ROLLUP, TICKET_ROLLUP, USAGE_ROLLUP } from './rollup.ts'
import { TICKETS } from './ticket-write.ts'
import { endWalk, findWalked, readStoredSessions } from './walk.ts'
import { TRAIT_ROLLUP, WORK_ROLLUP } from './work-rollup.ts'
import { FACET_COLUMNS, facetsOf, insertUsage, USAGE_COLUMNS, usageOfAll, usedSession } from './write.ts'

/** Sessions with their details read at a time: some MB. */
const PAGE = 500

/** The columns that sessions with the same usage at other prices have alike: rows are summed by them. */
const KEYS = [
  ...['session_id', 'model', 'vendor', 'paid_by', 'day', 'utc_day', 'first_day'],
  ...['project', 'member', 'agent', 'branch'],
  ...['has_calls', 'created_at', 'ended_at', 'turns', 'quality_score', 'findings', 'session_cost'],
]
const SUMMED = [
  ...['is_main::integer', 'sessions', 'day_turns', 'main_turns', 'calls', 'prompts'],
  ...['tool_results', 'tool_errors', 'input', 'output', 'cache_read', 'cache_creation', 'cache_creation_1h'],
  ...['unpriced_tokens', 'transcript_tokens', 'telemetry_tokens', COSTS.join(' + ')],
]

/** The same of rows of session_facets. The bits of the facets that prices decide on are left out. */
const FACET_KEYS = [
  ...['session_id', 'day', 'project', 'member', 'agent', 'model', 'branch'],
  ...FACETS.filter((facet) => facet !== 'tier'),
]
const FACETS_SUMMED = [
  'firsts & 63',
  'model_firsts & 63',
  ...SUMMED.filter((column) => Object.hasOwn(FACET_COLUMNS, column) || column.includes('+')),
]

/**
 * The usage of rows as it is at any prices. What a price was in, and the division of a cost among its kinds, depend on prices, of
 * which a later version of the program may know more.
 */
const withoutPrices = (tx: ISql, rows: Fragment, keys = KEYS, summed = SUMMED): Fragment => tx`
  select ${tx.unsafe([...keys, ...summed.map((column) => `sum(${column})`)].join(', '))}
  from (${rows}) q
  group by ${tx.unsafe(keys.join(', '))}`

/** Facets of sessions of which something is noted: only prices may tell that others have some. */
const notedFacets = (tx: ISql, rows: Fragment): Fragment => {
  const isNoted = [...FACETS.slice(0, FACETS.indexOf('tier'))].map((facet) => `q.${facet} <> ''`).join(' or ')
  const some = tx`
    select q.*
    from (select q.*, bool_or(${tx.unsafe(isNoted)}) over (partition by q.session_id) as is_noted from (${rows}) q) q
    where q.is_noted`
  return withoutPrices(tx, some, FACET_KEYS, FACETS_SUMMED)
}

/** The first session whose usage is not that of its details, or which is gone. */
const findWrong = (
  sql: Sql,
  orgId: string,
  pricer: Pricer,
  onRead?: (sessions: number) => void,
): Promise<Record<string, string> | undefined> =>
  // one snapshot for all pages
  sql.begin('isolation level repeatable read read only', async (tx) => {
    const through = await findWalked(tx, orgId)
    let after = ''
    for await (const sessions of readStoredSessions(tx, orgId, PAGE, { through })) {
      onRead?.(sessions.length)
      const last = sessions.length < PAGE ? through : sessions.at(-1)?.id
      const rows = await usageOfAll(tx, orgId, { sessions: sessions.map(usedSession), pricer })
      const storedIn = (table: string) => tx`
        select t.*
        from ${tx(table)} t
        where t.org_id = ${orgId}
          and t.session_id > ${after}
          ${last === undefined ? tx`` : tx`and t.session_id <= ${last}`}`
      const differing = async (computed: Fragment, stored: Fragment, model: string) => {
        const [row] = await tx<Record<string, string>[]>`
          with computed as (${computed}),
          stored as (${stored})
          select d.session_id, ${tx.unsafe(model)} as model
          from (
            (table computed except all table stored)
            union all
            (table stored except all table computed)
          ) d
          order by 1, 2
          limit 1`
        return row
      }
      const row =
        (await differing(
          withoutPrices(tx, tx`select n.* from ${unnest(tx, rows, USAGE_COLUMNS)}`),
          withoutPrices(tx, storedIn('session_usage')),
          'd.model',
        )) ??
        (await differing(
          notedFacets(tx, tx`select n.* from ${unnest(tx, rows.flatMap(facetsOf), FACET_COLUMNS)}`),
          notedFacets(tx, storedIn('session_facets')),
          'd.version',
        ))
      if (row !== undefined || sessions.length < PAGE) return row
      after = last ?? ''
    }
    return undefined
  })

/** The usage of each session: the program divides what a session used, when it is written and here. */
const usage = (pricer: () => Promise<Pricer>): ProgramTable => ({
  name: 'session_usage',
  findDiffering: async (sql, orgId, onRead) => await findWrong(sql, orgId, await pricer(), onRead),
  async rebuild(tx, orgId) {
    await deleteFrom(tx, orgId, 'session_usage')
    await deleteFrom(tx, orgId, 'session_facets')
    await endWalk(tx, orgId)
    for await (const sessions of readStoredSessions(tx, orgId, PAGE)) {
      const used = { sessions: sessions.map(usedSession), pricer: await pricer() }
      await insertUsage(tx, orgId, await usageOfAll(tx, orgId, used))
    }
  },
  describe: ({ session_id, model }) => `usage of ${session_id} (${model || 'no model'})`,
})

/** Recomputes the links to pull requests. */
const linksFromDetails = (sql: ISql, orgId: OrgId) => sql`
  select distinct d.session_id, l.repo, l.number as pr_number
  from session_details d
  cross join lateral json_to_recordset(d.detail->'pull_requests') as l (repo text, number integer)
  where d.org_id = ${orgId}`

export const PULL_REQUEST_PARTS: DerivedTable = {
  name: 'pr_sessions',
  columns: ['session_id', 'repo', 'pr_number', 'part', 'project', 'member', 'agent', 'day'],
  query: (sql, orgId) => pullRequestShares(sql, orgId, sql``),
  describe: ({ session_id }) => `part of ${session_id} in a pull request`,
}

/** The usage of each session by day and model, and its sums, in the order in which they are rebuilt. */
export const usageTables = (pricer: () => Promise<Pricer>): readonly CheckedTable[] => [
  usage(pricer),
  USAGE_ROLLUP,
  PRICE_ROLLUP,
  BRANCH_ROLLUP,
  FACET_ROLLUP,
  WORK_ROLLUP,
  TRAIT_ROLLUP,
  {
    name: 'session_links',
    columns: ['session_id', 'repo', 'pr_number'],
    query: linksFromDetails,
    describe: ({ session_id }) => `pull requests of ${session_id}`,
  },
  PULL_REQUEST_PARTS,
  OUTCOME_ROLLUP,
  TICKETS,
  TICKET_ROLLUP,
]

/** The same with built-in prices. */
export const USAGE_TABLES = usageTables(() => loadPricer())
