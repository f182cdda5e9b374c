import type { CsvColumns } from '../http/responses/csv.ts'
import { type RouteDeps, read } from '../http/route.ts'
import { FindingListQuery, FindingPage, type ListedFinding } from './finding-model.ts'
import { listFindings } from './finding-queries.ts'
import { getHeatmap } from './heatmap-queries.ts'
import { Heatmap, HeatmapQuery, SecurityOverview, SecurityQuery } from './model.ts'
import { getSecurity } from './queries.ts'

const FINDING_COLUMNS: CsvColumns<ListedFinding> = {
  id: ({ id }) => id,
  created_at: ({ created_at }) => created_at,
  severity: ({ severity }) => severity,
  status: ({ status }) => status,
  rule_id: ({ rule_id }) => rule_id,
  category: ({ category }) => category,
  title: ({ title }) => title,
  project: ({ project }) => project,
  file: ({ file }) => file,
  line: ({ line }) => line,
  session_id: ({ session_id }) => session_id,
  turn_number: ({ turn_number }) => turn_number,
  member_id: ({ member }) => member?.id,
  member_email: ({ member }) => member?.email,
}

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
  read('/findings', 'security:read', {
    id: 'listFindings',
    summary: 'List findings, those of the newest sessions first',
    tag: 'Security',
    query: FindingListQuery,
    response: FindingPage,
    namesMembers: ({ member }) => (member === undefined ? 'left out' : true),
    csv: FINDING_COLUMNS,
    kept: true,
    handler: ({ query, access: { orgId, own }, hidesMembers }) =>
      listFindings(sql, orgId, query, { hidesMembers, own }),
  }),
]
