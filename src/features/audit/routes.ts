import { Elysia } from 'elysia'
import type { RouteDeps } from '../../http/api.ts'
import { textOf } from '../../http/query.ts'
import { columnsOf } from '../../http/responses/csv.ts'
import { readCursor } from './cursor.ts'
import { AuditEntry, AuditListQuery, AuditPage, AuditReport, AuditReportQuery } from './model.ts'
import { allEntries, listEntries } from './queries.ts'
import { getReport } from './report-queries.ts'

export const auditRoutes = ({ sql, now, api }: RouteDeps) =>
  new Elysia({ prefix: '/audit', tags: ['Audit'] })
    .use(api)
    .get('', ({ sql, query, orgId }) => listEntries(sql, orgId, query), {
      scope: 'audit:read',
      query: AuditListQuery,
      response: textOf(AuditPage),
      members: true,
      csv: { columns: columnsOf(AuditEntry), all: allEntries },
      detail: { operationId: 'listAuditEntries', summary: 'List the audit log, newest first' },
    })
    .get(
      '/report',
      ({ query: { cursor, direction }, orgId }) => {
        const from = cursor === undefined ? { direction, at: null } : readCursor(cursor, direction)
        return getReport(sql, orgId, from, now())
      },
      {
        scope: 'audit:read',
        query: AuditReportQuery,
        response: AuditReport,
        members: true,
        detail: { operationId: 'getAuditReport', summary: 'The audit log as a report, page by page' },
      },
    )
