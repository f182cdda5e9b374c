import { Elysia } from 'elysia'
import { dateOf } from '../dates.ts'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { keyOf, sourceOf } from '../http/responses/response-cache.ts'
import { CostQuery, CostSummary, CostTrend, CostTrendQuery } from './model.ts'
import { getCost, getCostTrend } from './queries.ts'

export const costRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(access(deps))
    .get(
      '/cost',
      ({ query, access: { orgId } }) =>
        deps.cache.respond(orgId, {
          // the month's projection changes with the day
          key: () => keyOf('/cost', { ...query, today: dateOf(deps.now()) }),
          compute: () => getCost(deps.sql, orgId, query, deps.now()),
        }),
      {
        ...guard('cost:read', { query: CostQuery, response: { 200: CostSummary } }),
        detail: { operationId: 'getCost', summary: 'Cost summary', tags: ['Cost'] },
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
        detail: { operationId: 'getCostTrend', summary: 'Cost over time', tags: ['Cost'] },
      },
    )
