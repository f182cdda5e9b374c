import { Elysia } from 'elysia'
import { checked } from '../../analysis/records/problems.ts'
import type { ReadDeps } from '../../http/api.ts'
import { sentAsText } from '../../http/query.ts'
import { compareProblems } from '../usage/model.ts'
import { QualityOverview, QualityQuery, QualityTrend, QualityTrendQuery } from './model.ts'
import { getQuality, getQualityTrend } from './queries.ts'

export const qualityRoutes = ({ api }: ReadDeps) =>
  new Elysia({ prefix: '/quality', tags: ['Quality'] })
    .use(api)
    .get('', ({ cached, query, orgId }) => cached((sql) => getQuality(sql, orgId, query)), {
      scope: 'quality:read',
      query: checked(QualityQuery, compareProblems),
      response: sentAsText(QualityOverview),
      detail: { operationId: 'getQuality', summary: 'Quality overview' },
    })
    .get('/trend', ({ cached, query, orgId }) => cached((sql) => getQualityTrend(sql, orgId, query)), {
      scope: 'quality:read',
      query: QualityTrendQuery,
      response: sentAsText(QualityTrend),
      detail: { operationId: 'getQualityTrend', summary: 'Quality over time' },
    })
