import { type Static, Type } from '@sinclair/typebox'
import { PAID_BY, VENDORS } from '../../analysis/records/session.ts'
import { COST_KINDS, FACETS, type Facet, TIERS } from '../../analysis/usage/model.ts'
import { isDate } from '../../base/dates.ts'
import { type FieldProblem, problemIf } from '../../base/errors.ts'
import { choiceOf, DayRange, numberFilter, textFilter } from '../../http/query.ts'

/** A filter whose empty value stands for what has none. */
const filterOrNone = (description: string, example: string, maxLength: number) =>
  Type.Optional(Type.String({ maxLength, description, examples: [example] }))

export const Project = filterOrNone('Only this project; empty: only what has none', 'web-app', 200)

export const Team = filterOrNone(
  'Only what members of this team did, which they are in now; empty: of members in none, and of nobody',
  'payments',
  100,
)

/** Figures of whole sessions have these filters. */
export const RangeFilters = Type.Object({ project: Project, ...DayRange })
export type RangeFilters = Static<typeof RangeFilters>

/** Two days as a range: `2026-10-01..2026-10-31`. */
export const DAYS_PATTERN = '\\d{4}-\\d{2}-\\d{2}\\.\\.\\d{4}-\\d{2}-\\d{2}'
export const rangeOfDays = (days: string) => ({ date_from: days.slice(0, 10), date_to: days.slice(12) })
/** A parameter that is not readable has an error in the place of its text. */
export const areDays = (days: unknown): boolean => {
  if (typeof days !== 'string') return false
  const { date_from, date_to } = rangeOfDays(days)
  return isDate(date_from) && isDate(date_to) && date_from <= date_to
}

/** A figure of a range beside that of the range before, which needs both dates, or of other days. */
export const compareWith = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: `^(?:previous|${DAYS_PATTERN})$`,
      description: `${description}: \`previous\`, the equally long range before, which needs both dates, or days as \`2026-10-01..2026-10-31\``,
      examples: ['2026-10-01..2026-10-31', 'previous'],
    }),
  )
export const compareProblems = ({ compare, date_from, date_to }: RangeFilters & { compare?: string }) =>
  compare === undefined || compare === 'previous'
    ? problemIf(
        compare !== undefined && (date_from === undefined || date_to === undefined),
        'compare',
        'needs date_from and date_to',
      )
    : problemIf(
        !areDays(compare),
        'compare',
        'must be previous or two days in order, as 2026-10-01..2026-10-31',
      )

/** The list of sessions and the breakdown have these filters. */
export const UsageFilters = Type.Object({
  ...RangeFilters.properties,
  member: textFilter(
    'Only sessions of this member: an id, or an address in any case',
    'ada@example.com',
    320,
  ),
  team: Team,
  model: textFilter(
    'Only sessions that used this model; a breakdown counts what they used of it',
    'claude-sonnet-4-5',
  ),
  agent: textFilter('Only sessions of this coding agent: their `source`', 'claude-code', 100),
  branch: filterOrNone('Only sessions on this branch; empty: on none', 'main', 500),
  ticket: filterOrNone('Only sessions of this ticket, by `ticket_pattern`; empty: of none', 'SHOP-128', 200),
  min_cost: numberFilter(1e9, 'Only sessions that cost at least this, in US dollars', 0.5),
  max_cost: numberFilter(1e9, 'Only sessions that cost at most this, in US dollars', 10),
  min_quality: numberFilter(100, 'Only sessions with at least this quality score', 50),
  max_quality: numberFilter(100, 'Only sessions with at most this quality score', 90),
  has_findings: choiceOf(['true', 'false'], 'Only sessions with, or without, security findings', 'true'),
})

const ofFacet = (description: string) =>
  Type.Optional(
    Type.String({ maxLength: 400, description: `Only calls of this ${description}; empty: without` }),
  )
const oneFacet = (description: string, values: readonly string[]) => choiceOf(['', ...values], description)

/** The breakdown has these filters too, one at a time: only one has an example, since all examples are used together. */
export const FacetFilters = Type.Object({
  version: filterOrNone('Only calls of this agent and version; empty: without', 'claude-code 2.1.330', 400),
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

/** The columns of session_usage that breakdowns are made by. */
export type Dimension = 'project' | 'member' | 'agent' | 'model' | 'branch' | 'ticket'

/** The columns of session_usage that a session's cost is divided into: micro-dollars. */
export const COSTS = COST_KINDS.map((kind) => `cost_${kind}` as const)

/** The columns of session_usage that are divided among the days and models of a session, and among its tickets. */
export const USED = [...COSTS, 'input', 'output', 'cache_read', 'cache_creation', 'unpriced_tokens'] as const

/** The columns of rows of usage that are summed: `micros` is the sum of `COSTS`. */
export const MEASURES = ['micros', ...USED] as const

/** A key that sums are grouped by. */
export type SumKey = Dimension | Facet | 'team' | 'day' | 'week' | 'month'

export const isFacet = (key: string | undefined): key is Facet => FACETS.some((facet) => facet === key)

/** One facet at a time, as keys and filters; the keys by their parameters. */
export function facetProblems(
  filters: { readonly [Name in Facet]?: unknown },
  keys: Readonly<Record<string, string | undefined>>,
): FieldProblem[] {
  const named = [
    ...Object.entries(keys),
    ...FACETS.flatMap((facet) => (filters[facet] === undefined ? [] : [[facet, facet] as const])),
  ]
  const first = named.find(([, key]) => isFacet(key))?.[1]
  return named.flatMap(([field, key]) =>
    problemIf(
      isFacet(key) && key !== first,
      field,
      `must not be used with ${first}: one of ${FACETS.join(', ')}`,
    ),
  )
}
