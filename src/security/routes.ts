import { type RouteDeps, read } from '../http/route.ts'
import { getHeatmap } from './heatmap-queries.ts'
import { Heatmap, HeatmapQuery, SecurityOverview, SecurityQuery } from './model.ts'
import { getSecurity } from './queries.ts'

export const securityRoutes = ({ sql }: RouteDeps) => [
  read('/security', 'security:read', {
    id: 'getSecurity',
    summary: 'Security overview',
    tag: 'Security',
    query: SecurityQuery,
    response: SecurityOverview,
    kept: true,
    handler: ({ query, access: { orgId, own } }) => getSecurity(sql, orgId, query, own),
  }),
  read('/security/heatmap', 'security:read', {
    id: 'getSecurityHeatmap',
    summary: 'Risk by file',
    tag: 'Security',
    query: HeatmapQuery,
    response: Heatmap,
    kept: true,
    handler: ({ query, access: { orgId } }) => getHeatmap(sql, orgId, query),
  }),
]
