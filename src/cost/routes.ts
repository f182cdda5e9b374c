import { Elysia } from 'elysia'
import { dateOf } from '../dates.ts'
import { validationError } from '../errors.ts'
import { access, guard, type RouteDeps, refuseHidden } from '../http/access.ts'
import { keyOf, sourceOf } from '../http/responses/cached-response.ts'
import { type CsvColumns, pageSource } from '../http/responses/csv.ts'
import { Breakdown, type BreakdownItem, BreakdownQuery } from './breakdown-model.ts'
import { getBreakdown } from './breakdown-queries.ts'
import { CostQuery, CostSummary, CostTrend, CostTrendQuery } from './model.ts'
import { getCost, getCostTrend } from './queries.ts'

function checkKeys({ by, and_by }: BreakdownQuery): void {
  if (by === and_by) throw validationError({ field: 'and_by', message: 'must not be the same as by' })
}

const WHOLE_SESSIONS =
  'The cost of a day, week or month is that of the sessions that began in it: what a session costs on later days counts ' +
  'on its first.'

const breakdownColumns = ({ and_by }: BreakdownQuery): CsvColumns<BreakdownItem> => ({
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
})

export const costRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(access(deps))
    .get(
      '/cost',
      ({ query, access: { orgId } }) =>
        deps.cache.respond(orgId, {
          // the month's projection changes with the day
          key: keyOf('/cost', { ...query, today: dateOf(deps.now()) }),
          compute: () => getCost(deps.sql, orgId, query, deps.now()),
        }),
      {
        ...guard('cost:read', { query: CostQuery, response: { 200: CostSummary } }),
        detail: {
          operationId: 'getCost',
          summary: 'Cost summary',
          description: WHOLE_SESSIONS,
          tags: ['Cost'],
        },
      },
    )
    .get(
      '/cost/breakdown',
      ({ query, request, access: caller }) => {
        const { orgId } = caller
        if ([query.by, query.and_by].includes('member') || query.member !== undefined) refuseHidden(caller)
        checkKeys(query)
        const compute = () => getBreakdown(deps.sql, orgId, query)
        const columns = breakdownColumns(query)
        return deps.cache.respond(orgId, pageSource(request, '/cost/breakdown', query, compute, columns))
      },
      {
        ...guard('cost:read', { query: BreakdownQuery, response: { 200: Breakdown }, csv: true }),
        detail: {
          operationId: 'getCostBreakdown',
          summary: 'Cost and tokens by project, member, model, agent, branch or time',
          description:
            'Sums of the sessions that match, by one key or by pairs of two. What a session of several models used is ' +
            `divided among them; the session counts once under each. ${WHOLE_SESSIONS}`,
          tags: ['Cost'],
        },
      },
    )
    .get(
      '/cost/trend',
      ({ query, access: { orgId } }) =>
        deps.cache.respond(
          orgId,
          sourceOf('/cost/trend', query, () => getCostTrend(deps.sql, orgId, query)),
        ),
      {
        ...guard('cost:read', { query: CostTrendQuery, response: { 200: CostTrend } }),
        detail: {
          operationId: 'getCostTrend',
          summary: 'Cost over time',
          description: WHOLE_SESSIONS,
          tags: ['Cost'],
        },
      },
    )
