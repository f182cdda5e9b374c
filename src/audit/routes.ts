import { Elysia } from 'elysia'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { sourceOf } from '../http/responses/cached-response.ts'
import { readCursor } from './cursor.ts'
import { AuditListQuery, AuditPage, AuditReport, AuditReportQuery } from './model.ts'
import { listEntries } from './queries.ts'
import { getReport } from './report-queries.ts'

export const auditRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(access(deps))
    .get(
      '/audit',
      ({ query, access: { orgId } }) =>
        deps.cache.respond(
          orgId,
          sourceOf('/audit', query, () => listEntries(deps.sql, orgId, query)),
        ),
      {
        ...guard('audit:read', { query: AuditListQuery, response: { 200: AuditPage }, namesMembers: true }),
        detail: {
          operationId: 'listAuditEntries',
          summary: 'List the audit log, newest first',
          tags: ['Audit'],
        },
      },
    )
    .get(
      '/audit/report',
      ({ query: { cursor, direction }, access: { orgId } }) =>
        getReport(
          deps.sql,
          orgId,
          cursor === undefined ? { direction, at: null } : readCursor(cursor, direction),
          deps.now(),
        ),
      {
        ...guard('audit:read', {
          query: AuditReportQuery,
          response: { 200: AuditReport },
          namesMembers: true,
        }),
        detail: {
          operationId: 'getAuditReport',
          summary: 'The audit log as a report, page by page',
          tags: ['Audit'],
        },
      },
    )
