import { dateOf } from '../dates.ts'
import { validationError } from '../errors.ts'
import type { CsvColumns } from '../http/responses/csv.ts'
import { type RouteDeps, read } from '../http/route.ts'
import { Breakdown, type BreakdownItem, BreakdownQuery, isTime } from './breakdown-model.ts'
import { getBreakdown } from './breakdown-queries.ts'
import { CostQuery, CostSummary, CostTrend, CostTrendQuery } from './model.ts'
import { getCost, getCostTrend } from './queries.ts'

function checkBreakdown(query: BreakdownQuery): void {
  const { by, and_by, top, compare, sort, date_from, date_to } = query
  const problems = [
    ...(by === and_by ? [{ field: 'and_by', message: 'must not be the same as by' }] : []),
    ...(top !== undefined && and_by === undefined ? [{ field: 'top', message: 'needs and_by' }] : []),
    ...(compare !== undefined && (date_from === undefined || date_to === undefined)
      ? [{ field: 'compare', message: 'needs date_from and date_to' }]
      : []),
    ...(sort !== 'change'
      ? []
      : [
          ...(compare === undefined ? [{ field: 'sort', message: 'change needs compare=previous' }] : []),
          ...(isTime(by) || isTime(and_by)
            ? [{ field: 'sort', message: 'change needs other keys than day, week and month' }]
            : []),
        ]),
  ]
  if (problems.length > 0) throw validationError(...problems)
}

const WHOLE_SESSIONS =
  'The cost of a day, week or month is that of the sessions that began in it: what a session costs on later days counts ' +
  'on its first.'

const breakdownColumns = ({ and_by, compare }: BreakdownQuery): CsvColumns<BreakdownItem> => ({
  key: ({ key }) => key,
  ...(and_by === undefined ? {} : { and_key: ({ and_key }: BreakdownItem) => and_key }),
  sessions: ({ sessions }) => sessions,
  turns: ({ turns }) => turns,
  input_tokens: ({ tokens }) => tokens.input,
  output_tokens: ({ tokens }) => tokens.output,
  cache_read_tokens: ({ tokens }) => tokens.cache_read,
  cache_creation_tokens: ({ tokens }) => tokens.cache_creation,
  cost: ({ cost }) => cost,
  share: ({ share }) => share,
  unpriced_tokens: ({ unpriced_tokens }) => unpriced_tokens,
  ...(compare === undefined
    ? {}
    : {
        previous_cost: ({ previous }: BreakdownItem) => previous?.cost,
        previous_sessions: ({ previous }: BreakdownItem) => previous?.sessions,
      }),
})

export const costRoutes = ({ sql, now }: RouteDeps) => [
  read('/cost', 'cost:read', {
    id: 'getCost',
    summary: 'Cost summary',
    description: WHOLE_SESSIONS,
    tag: 'Cost',
    query: CostQuery,
    response: CostSummary,
    // the month's projection changes with the day
    kept: () => ({ today: dateOf(now()) }),
    handler: ({ query, access: { orgId } }) => getCost(sql, orgId, query, now()),
  }),
  read('/cost/breakdown', 'cost:read', {
    id: 'getCostBreakdown',
    summary: 'Cost and tokens by project, member, model, agent, branch or time',
    description:
      'Sums of the sessions that match, by one key or by pairs of two. What a session of several models used is ' +
      `divided among them; the session counts once under each. ${WHOLE_SESSIONS}`,
    tag: 'Cost',
    query: BreakdownQuery,
    response: Breakdown,
    namesMembers: ({ by, and_by, member }) => by === 'member' || and_by === 'member' || member !== undefined,
    csv: breakdownColumns,
    kept: true,
    handler: ({ query, access: { orgId, own } }) => {
      checkBreakdown(query)
      return getBreakdown(sql, orgId, query, own)
    },
  }),
  read('/cost/trend', 'cost:read', {
    id: 'getCostTrend',
    summary: 'Cost over time',
    description: WHOLE_SESSIONS,
    tag: 'Cost',
    query: CostTrendQuery,
    response: CostTrend,
    kept: true,
    handler: ({ query, access: { orgId } }) => getCostTrend(sql, orgId, query),
  }),
]
