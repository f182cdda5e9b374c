import { type RouteDeps, read } from '../http/route.ts'
import { readCursor } from './cursor.ts'
import { AuditListQuery, AuditPage, AuditReport, AuditReportQuery } from './model.ts'
import { listEntries } from './queries.ts'
import { getReport } from './report-queries.ts'

export const auditRoutes = ({ sql, now }: RouteDeps) => [
  read('/audit', 'audit:read', {
    id: 'listAuditEntries',
    summary: 'List the audit log, newest first',
    tag: 'Audit',
    query: AuditListQuery,
    response: AuditPage,
    namesMembers: true,
    kept: true,
    handler: ({ query, access: { orgId } }) => listEntries(sql, orgId, query),
  }),
  read('/audit/report', 'audit:read', {
    id: 'getAuditReport',
    summary: 'The audit log as a report, page by page',
    tag: 'Audit',
    query: AuditReportQuery,
    response: AuditReport,
    namesMembers: true,
    handler: ({ query: { cursor, direction }, access: { orgId } }) =>
      getReport(
        sql,
        orgId,
        cursor === undefined ? { direction, at: null } : readCursor(cursor, direction),
        now(),
      ),
  }),
]
