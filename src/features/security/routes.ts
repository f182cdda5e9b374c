// GET /security, /security/heatmap and /findings. Findings are decided in features/findings.

import { Elysia } from 'elysia'
import { checked } from '../../analysis/records/problems.ts'
import type { RouteDeps } from '../../http/api.ts'
import { sentAsText } from '../../http/query.ts'
import { compareProblems } from '../usage/model.ts'
import type { FindingListQuery } from './finding-model.ts'
import { findingList } from './finding-queries.ts'
import { fileRiskList } from './heatmap-queries.ts'
import { SecurityOverview, SecurityQuery } from './model.ts'
import { getSecurity } from './queries.ts'

export const securityRoutes = ({ api }: RouteDeps) =>
  new Elysia({ tags: ['Security'] })
    .use(api)
    .get(
      '/security',
      ({ cached, query, orgId, viewer }) =>
        cached((sql, zone) => getSecurity(sql, orgId, query, { ...viewer, zone })),
      {
        scope: 'security:read',
        query: checked(SecurityQuery, compareProblems),
        response: sentAsText(SecurityOverview),
        members: 'left out',
        detail: { operationId: 'getSecurity', summary: 'Security overview' },
      },
    )
    .get('/security/heatmap', ({ page }) => page(), {
      ...fileRiskList,
      scope: 'security:read',
      detail: { operationId: 'getSecurityHeatmap', summary: 'Risk by file' },
    })
    .get('/findings', ({ page }) => page(), {
      ...findingList,
      scope: 'security:read',
      members: ({ member, assignee }: FindingListQuery) =>
        member === undefined && assignee === undefined ? 'left out' : true,
      detail: {
        operationId: 'listFindings',
        summary: 'List findings, those of the newest sessions or the most severe first',
      },
    })
