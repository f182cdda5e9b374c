import { Elysia } from 'elysia'
import { dateOf } from '../../base/dates.ts'
import { type FieldProblem, problemIf } from '../../base/errors.ts'
import type { ReadDeps } from '../../http/api.ts'
import { textOf } from '../../http/query.ts'
import { type CsvColumns, fields } from '../../http/responses/csv.ts'
import { Breakdown, type BreakdownItem, BreakdownQuery, isTime } from './breakdown-model.ts'
import { allBreakdown, getBreakdown } from './breakdown-queries.ts'
import { CostQuery, CostSummary, CostTrend, CostTrendQuery } from './model.ts'
import { getCost, getCostTrend } from './queries.ts'

/** Finds parameters that do not go together. */
function breakdownProblems(query: BreakdownQuery): FieldProblem[] {
  const { by, and_by, top, compare, sort, date_from, date_to } = query
  const isChange = sort === 'change'
  return [
    ...problemIf(and_by !== undefined && by === and_by, 'and_by', 'must not be the same as by'),
    ...problemIf(top !== undefined && and_by === undefined, 'top', 'needs and_by'),
    ...problemIf(
      compare !== undefined && (date_from === undefined || date_to === undefined),
      'compare',
      'needs date_from and date_to',
    ),
    ...problemIf(isChange && compare === undefined, 'sort', 'change needs compare=previous'),
    ...problemIf(
      isChange && (isTime(by) || isTime(and_by)),
      'sort',
      'change needs other keys than day, week and month',
    ),
  ]
}

const WHOLE_SESSIONS =
  'The cost of a day, week or month is that of the sessions that began in it: what a session costs on later days counts ' +
  'on its first.'

const breakdownColumns = ({ and_by, compare }: BreakdownQuery): CsvColumns<BreakdownItem> => ({
  ...fields<BreakdownItem>(
    'key',
    ...(and_by === undefined ? [] : (['and_key'] as const)),
    'sessions',
    'turns',
  ),
  input_tokens: ({ tokens }) => tokens.input,
  output_tokens: ({ tokens }) => tokens.output,
  cache_read_tokens: ({ tokens }) => tokens.cache_read,
  cache_creation_tokens: ({ tokens }) => tokens.cache_creation,
  ...fields<BreakdownItem>('cost', 'share', 'unpriced_tokens'),
  ...(compare === undefined
    ? {}
    : {
        previous_cost: ({ previous }: BreakdownItem) => previous?.cost,
        previous_sessions: ({ previous }: BreakdownItem) => previous?.sessions,
      }),
})

export const costRoutes = ({ now, api }: ReadDeps) =>
  new Elysia({ prefix: '/cost', tags: ['Cost'] })
    .use(api)
    .get('', ({ sql, query, orgId }) => getCost(sql, orgId, query, now()), {
      scope: 'cost:read',
      query: CostQuery,
      response: textOf(CostSummary),
      // the month's projection changes with the day
      cached: () => ({ today: dateOf(now()) }),
      detail: { operationId: 'getCost', summary: 'Cost summary', description: WHOLE_SESSIONS },
    })
    .get('/breakdown', ({ sql, query, orgId, onlyMember }) => getBreakdown(sql, orgId, query, onlyMember), {
      scope: 'cost:read',
      query: BreakdownQuery,
      check: ({ query }: { query: BreakdownQuery }) => breakdownProblems(query),
      response: textOf(Breakdown),
      members: ({ by, and_by, member }: BreakdownQuery) =>
        by === 'member' || and_by === 'member' || member !== undefined,
      csv: { columns: breakdownColumns, all: allBreakdown },
      detail: {
        operationId: 'getCostBreakdown',
        summary: 'Cost and tokens by project, member, team, model, agent, branch or time',
        description:
          'Sums of the sessions that match, by one key or by pairs of two. What a session of several models used is ' +
          `divided among them; the session counts once under each. ${WHOLE_SESSIONS}`,
      },
    })
    .get('/trend', ({ sql, query, orgId }) => getCostTrend(sql, orgId, query), {
      scope: 'cost:read',
      query: CostTrendQuery,
      response: textOf(CostTrend),
      cached: true,
      detail: { operationId: 'getCostTrend', summary: 'Cost over time', description: WHOLE_SESSIONS },
    })
