import { type RouteDeps, read } from '../http/route.ts'
import { QualityOverview, QualityQuery, QualityTrend, QualityTrendQuery } from './model.ts'
import { getQuality, getQualityTrend } from './queries.ts'

export const qualityRoutes = ({ sql }: RouteDeps) => [
  read('/quality', 'quality:read', {
    id: 'getQuality',
    summary: 'Quality overview',
    tag: 'Quality',
    query: QualityQuery,
    response: QualityOverview,
    kept: true,
    handler: ({ query, access: { orgId } }) => getQuality(sql, orgId, query),
  }),
  read('/quality/trend', 'quality:read', {
    id: 'getQualityTrend',
    summary: 'Quality over time',
    tag: 'Quality',
    query: QualityTrendQuery,
    response: QualityTrend,
    kept: true,
    handler: ({ query, access: { orgId } }) => getQualityTrend(sql, orgId, query),
  }),
]
