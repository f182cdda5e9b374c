// Declares the filters of the list of sessions and of breakdowns, and their conditions, in one table.

import { type Static, type TSchema, Type } from '@sinclair/typebox'
import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { PAID_BY, VENDORS } from '../../analysis/records/session.ts'
import { FACETS, type Facet, TIERS } from '../../analysis/usage/model.ts'
import { type FieldProblem, problemIf } from '../../base/errors.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { personGiven } from '../../database/member-addresses.ts'
import { choiceOf, filterOrNone, numberFilter, textFilter } from '../../http/query.ts'
import { isOfTeam } from './member-queries.ts'
import { type Dimension, isFacet, PRIVATE, Project, RangeFilters, Team } from './model.ts'

/** The condition on a column, of rows of an organization. */
type Condition = (sql: ISql, orgId: string, column: Fragment, value: never) => Fragment

interface Filter {
  /** The parameter. */
  schema: TSchema
  /** The column of usage, which sums have too. Without one, the sessions themselves are filtered. */
  summed?: Dimension
  /** That of session_usage alone. */
  column?: string
  /** That of sessions. Without one, the list reads their usage. */
  ofSession?: string
  /** Else the column has the value. */
  is?: Condition
}

const is: Condition = (sql, _orgId, column, value) => sql`${column} = ${value}`
const isAtLeast: Condition = (sql, _orgId, column, value) => sql`${column} >= ${value}`
const isAtMost: Condition = (sql, _orgId, column, value) => sql`${column} <= ${value}`

/** An array for one ticket, not a join: all sessions might be read. */
const hasTicket = (sql: ISql, orgId: string, column: Fragment, ticket: string) =>
  ticket === ''
    ? sql`
        not exists (
          select from session_tickets f
          where f.org_id = ${orgId}
            and f.session_id = ${column}
        )`
    : sql`
        ${column} = any (array(
          select f.session_id
          from session_tickets f
          where f.org_id = ${orgId}
            and f.ticket = ${ticket}
        ))`

const FILTERS = {
  project: { schema: Project, summed: 'project', ofSession: 'project' },
  member: {
    schema: textFilter(
      'Only sessions of this member: an id, or an address in any case',
      'ada@example.com',
      320,
    ),
    summed: 'member',
    is: (sql, orgId, column, member: string) => sql`${column} = ${personGiven(sql, orgId, member)}`,
  },
  team: { schema: Team, summed: 'member', is: isOfTeam },
  model: {
    schema: textFilter(
      'Only sessions that used this model; a breakdown counts what they used of it',
      'claude-sonnet-4-5',
    ),
    summed: 'model',
  },
  agent: {
    schema: textFilter('Only sessions of this coding agent: their `source`', 'claude-code', 100),
    summed: 'agent',
  },
  branch: {
    schema: filterOrNone('Only sessions on this branch; empty: on none', 500, 'main'),
    summed: 'branch',
  },
  ticket: {
    schema: filterOrNone(
      'Only sessions of this ticket, by `ticket_pattern`; empty: of none',
      200,
      'SHOP-128',
    ),
    ...{ column: 'session_id', is: hasTicket },
  },
  min_cost: {
    schema: numberFilter(1e9, 'Only sessions that cost at least this, in US dollars', 0.5),
    ...{ column: 'session_cost', ofSession: 'estimated_cost', is: isAtLeast },
  },
  max_cost: {
    schema: numberFilter(1e9, 'Only sessions that cost at most this, in US dollars', 10),
    ...{ column: 'session_cost', ofSession: 'estimated_cost', is: isAtMost },
  },
  min_quality: {
    schema: numberFilter(100, 'Only sessions with at least this quality score', 50),
    ...{ column: 'quality_score', ofSession: 'quality_score', is: isAtLeast },
  },
  max_quality: {
    schema: numberFilter(100, 'Only sessions with at most this quality score', 90),
    ...{ column: 'quality_score', ofSession: 'quality_score', is: isAtMost },
  },
  has_findings: {
    schema: choiceOf(['true', 'false'], 'Only sessions with, or without, security findings', 'true'),
    column: 'findings',
    is: (sql, _orgId, column, has: string) => sql`${column} ${has === 'true' ? sql`> 0` : sql`= 0`}`,
  },
} satisfies Record<string, Filter>
type Name = keyof typeof FILTERS
type Parameters = { [Each in Name]: (typeof FILTERS)[Each]['schema'] }

/** The list of sessions and the breakdown have these filters. */
export const UsageFilters = Type.Object({
  ...RangeFilters.properties,
  ...(Object.fromEntries(Object.entries(FILTERS).map(([name, { schema }]) => [name, schema])) as Parameters),
})

const ofFacet = (description: string) =>
  filterOrNone(`Only calls of this ${description}; empty: without`, 400)
const oneFacet = (description: string, values: readonly string[]) => choiceOf(['', ...values], description)

/** The breakdown has these filters too, one at a time: only one has an example, since all examples are used together. */
export const FacetFilters = Type.Object({
  version: filterOrNone('Only calls of this agent and version; empty: without', 400, 'claude-code 2.1.330'),
  effort: ofFacet('effort'),
  skill: ofFacet('skill'),
  subagent: ofFacet('type of sub-agent'),
  mcp_server: ofFacet('MCP server'),
  plugin: ofFacet('plugin'),
  tier: oneFacet('Only calls in this tier of service, or with a long prompt', TIERS),
  vendor: oneFacet('Only calls that this vendor is paid for; empty: of none', VENDORS),
  paid_by: oneFacet('Only calls paid so, as recorded', PAID_BY),
})
export type UsageFilters = Static<typeof UsageFilters> & Partial<Static<typeof FacetFilters>>

/** The filters for who sees only the figures of `onlyMember`, if anybody's alone. */
export const visibleFilters = <Filters extends UsageFilters>(
  filters: Filters,
  onlyMember: VisibleMember | null,
) =>
  onlyMember !== null && PRIVATE.some((name) => filters[name as keyof UsageFilters] !== undefined)
    ? { ...filters, member: onlyMember.id }
    : filters

const ENTRIES = Object.entries<Filter>(FILTERS) as [Name, Filter][]

/** The rows of the table for the filters of a query, with their values. */
export const givenFilters = (query: Partial<UsageFilters>) =>
  ENTRIES.filter(([name]) => query[name] !== undefined).map(([name, filter]) => ({
    ...filter,
    value: query[name] as never,
  }))

/** Conditions, `and …`, on rows `s` of sessions, else on those of usage or of its sums. */
export const matching = (
  sql: ISql,
  orgId: string,
  filters: Partial<UsageFilters>,
  alias: 's' | 'u' | 'r' | 'f',
): Fragment =>
  givenFilters(filters).reduce((all, { is: matches = is, summed, column = summed, ofSession, value }) => {
    const name = alias === 's' ? ofSession : column
    return name === undefined
      ? all
      : sql`${all} and ${matches(sql, orgId, sql.unsafe(`${alias}.${name}`), value)}`
  }, sql``)

/** One facet at a time, as keys and filters; the keys by their parameters. */
export function facetProblems(
  filters: { readonly [Name in Facet]?: unknown },
  keys: Readonly<Record<string, string | undefined>>,
): FieldProblem[] {
  const entries = [
    ...Object.entries(keys),
    ...FACETS.flatMap((facet) => (filters[facet] === undefined ? [] : [[facet, facet] as const])),
  ]
  const first = entries.find(([, key]) => isFacet(key))?.[1]
  return entries.flatMap(([field, key]) =>
    problemIf(
      isFacet(key) && key !== first,
      field,
      `must not be used with ${first}: one of ${FACETS.join(', ')}`,
    ),
  )
}
