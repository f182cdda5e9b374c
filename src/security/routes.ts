import { Elysia } from 'elysia'
import type { RouteDeps } from '../http/api.ts'
import { textOf } from '../http/query.ts'
import { type CsvColumns, fields } from '../http/responses/csv.ts'
import { FindingListQuery, FindingPage, type ListedFinding } from './finding-model.ts'
import { listFindings } from './finding-queries.ts'
import { getHeatmap } from './heatmap-queries.ts'
import { Heatmap, HeatmapQuery, SecurityOverview, SecurityQuery } from './model.ts'
import { getSecurity } from './queries.ts'

const FINDING_COLUMNS: CsvColumns<ListedFinding> = {
  ...fields<ListedFinding>('id', 'created_at', 'severity', 'status', 'rule_id', 'category', 'title'),
  ...fields<ListedFinding>('project', 'file', 'line', 'session_id', 'turn_number'),
  member_id: ({ member }) => member?.id,
  member_email: ({ member }) => member?.email,
}

export const securityRoutes = ({ sql, api }: RouteDeps) =>
  new Elysia({ tags: ['Security'] })
    .use(api)
    .get('/security', ({ query, access: { orgId, own } }) => getSecurity(sql, orgId, query, own), {
      scope: 'security:read',
      query: SecurityQuery,
      response: textOf(SecurityOverview),
      cached: true,
      detail: { operationId: 'getSecurity', summary: 'Security overview' },
    })
    .get('/security/heatmap', ({ query, access: { orgId } }) => getHeatmap(sql, orgId, query), {
      scope: 'security:read',
      query: HeatmapQuery,
      response: Heatmap,
      cached: true,
      detail: { operationId: 'getSecurityHeatmap', summary: 'Risk by file' },
    })
    .get(
      '/findings',
      ({ query, access: { orgId, own }, hidesMembers }) =>
        listFindings(sql, orgId, query, { hidesMembers, own }),
      {
        scope: 'security:read',
        query: FindingListQuery,
        response: textOf(FindingPage),
        members: ({ member }: FindingListQuery) => (member === undefined ? 'left out' : true),
        cached: true,
        csv: FINDING_COLUMNS,
        detail: {
          operationId: 'listFindings',
          summary: 'List findings, those of the newest sessions first',
        },
      },
    )
