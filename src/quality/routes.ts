import { Elysia } from 'elysia'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { sourceOf } from '../http/responses/cached-response.ts'
import { QualityOverview, QualityQuery, QualityTrend, QualityTrendQuery } from './model.ts'
import { getQuality, getQualityTrend } from './queries.ts'

export const qualityRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(access(deps))
    .get(
      '/quality',
      ({ query, access: { orgId } }) =>
        deps.cache.respond(
          orgId,
          sourceOf('/quality', query, () => getQuality(deps.sql, orgId, query)),
        ),
      {
        ...guard('quality:read', { query: QualityQuery, response: { 200: QualityOverview } }),
        detail: { operationId: 'getQuality', summary: 'Quality overview', tags: ['Quality'] },
      },
    )
    .get(
      '/quality/trend',
      ({ query, access: { orgId } }) =>
        deps.cache.respond(
          orgId,
          sourceOf('/quality/trend', query, () => getQualityTrend(deps.sql, orgId, query)),
        ),
      {
        ...guard('quality:read', { query: QualityTrendQuery, response: { 200: QualityTrend } }),
        detail: { operationId: 'getQualityTrend', summary: 'Quality over time', tags: ['Quality'] },
      },
    )
