import { Elysia } from 'elysia'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { errorResponses } from '../http/query.ts'
import { CostQuery, CostSummary, CostTrend, CostTrendQuery } from './model.ts'
import { getCost, getCostTrend } from './queries.ts'

export const costRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(access(deps))
    .get('/cost', ({ query, access: { orgId } }) => getCost(deps.sql, orgId, query, deps.now()), {
      ...guard('cost:read', { query: CostQuery }),
      response: { 200: CostSummary, ...errorResponses },
      detail: { summary: 'Cost summary', tags: ['Cost'] },
    })
    .get('/cost/trend', ({ query, access: { orgId } }) => getCostTrend(deps.sql, orgId, query), {
      ...guard('cost:read', { query: CostTrendQuery }),
      response: { 200: CostTrend, ...errorResponses },
      detail: { summary: 'Cost over time', tags: ['Cost'] },
    })
