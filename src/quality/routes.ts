import { Elysia } from 'elysia'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { errorResponses } from '../http/query.ts'
import { QualityOverview, QualityQuery, QualityTrend, QualityTrendQuery } from './model.ts'
import { getQuality, getQualityTrend } from './queries.ts'

export const qualityRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(access(deps))
    .get('/quality', ({ query, access: { orgId } }) => getQuality(deps.sql, orgId, query), {
      ...guard('quality:read', { query: QualityQuery }),
      response: { 200: QualityOverview, ...errorResponses },
      detail: { summary: 'Quality overview', tags: ['Quality'] },
    })
    .get('/quality/trend', ({ query, access: { orgId } }) => getQualityTrend(deps.sql, orgId, query), {
      ...guard('quality:read', { query: QualityTrendQuery }),
      response: { 200: QualityTrend, ...errorResponses },
      detail: { summary: 'Quality over time', tags: ['Quality'] },
    })
