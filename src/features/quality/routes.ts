import { Elysia } from 'elysia'
import type { ReadDeps } from '../../http/api.ts'
import { textOf } from '../../http/query.ts'
import { compareProblems } from '../usage/model.ts'
import { QualityOverview, QualityQuery, QualityTrend, QualityTrendQuery } from './model.ts'
import { getQuality, getQualityTrend } from './queries.ts'

export const qualityRoutes = ({ api }: ReadDeps) =>
  new Elysia({ prefix: '/quality', tags: ['Quality'] })
    .use(api)
    .get('', ({ sql, query, orgId }) => getQuality(sql, orgId, query), {
      scope: 'quality:read',
      query: QualityQuery,
      check: ({ query }: { query: QualityQuery }) => compareProblems(query),
      response: textOf(QualityOverview),
      cached: true,
      detail: { operationId: 'getQuality', summary: 'Quality overview' },
    })
    .get('/trend', ({ sql, query, orgId }) => getQualityTrend(sql, orgId, query), {
      scope: 'quality:read',
      query: QualityTrendQuery,
      response: textOf(QualityTrend),
      cached: true,
      detail: { operationId: 'getQualityTrend', summary: 'Quality over time' },
    })
