import { Elysia } from 'elysia'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { sourceOf } from '../http/responses/cached-response.ts'
import { getHeatmap } from './heatmap-queries.ts'
import { Heatmap, HeatmapQuery, SecurityOverview, SecurityQuery } from './model.ts'
import { getSecurity } from './queries.ts'

export const securityRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(access(deps))
    .get(
      '/security',
      ({ query, access: { orgId } }) =>
        deps.cache.respond(
          orgId,
          sourceOf('/security', query, () => getSecurity(deps.sql, orgId, query)),
        ),
      {
        ...guard('security:read', { query: SecurityQuery, response: { 200: SecurityOverview } }),
        detail: { operationId: 'getSecurity', summary: 'Security overview', tags: ['Security'] },
      },
    )
    .get(
      '/security/heatmap',
      ({ query, access: { orgId } }) =>
        deps.cache.respond(
          orgId,
          sourceOf('/security/heatmap', query, () => getHeatmap(deps.sql, orgId, query)),
        ),
      {
        ...guard('security:read', { query: HeatmapQuery, response: { 200: Heatmap } }),
        detail: { operationId: 'getSecurityHeatmap', summary: 'Risk by file', tags: ['Security'] },
      },
    )
