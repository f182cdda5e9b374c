import { Elysia } from 'elysia'
import { isInstant, isTime, LAST_MICROS, microsOf, timestampOf } from '../../base/dates.ts'
import { fieldError } from '../../base/errors.ts'
import type { RouteDeps } from '../../http/api.ts'
import { AuditReport, AuditReportQuery } from './model.ts'
import { entryList } from './queries.ts'
import { getReport } from './report-queries.ts'

/** The start of a page: entries strictly before or after `at`, which has six decimals. */
interface Position {
  direction: 'before' | 'after'
  at: string
}

/** A `+` that is not percent-encoded arrives as a space. Times have no space before the offset. */
const BARE_PLUS = /(?<=:\S+) (\d\d:\d\d)$/

/** The position of a `cursor`; more digits than microseconds are rounded off. Throws VALIDATION_ERROR. */
export function readCursor(cursor: string, direction: Position['direction']): Position {
  const text = cursor.replace(BARE_PLUS, '+$1')
  if (!isInstant(text))
    throw fieldError('cursor', 'must be a date, or a date and time, like 2026-01-31T12:34:56.789123Z')
  // no entry is older than 1970
  if (!isTime(text)) return { direction, at: '-infinity' }
  const at = microsOf(text)
  const isBetween = /\.\d{6}\d*[1-9]/.test(text)
  // an entry at .123456 is before .1234567
  if (direction === 'before' && isBetween)
    return { direction, at: at === LAST_MICROS ? 'infinity' : timestampOf(at + 1n) }
  return { direction, at: timestampOf(at) }
}

export const auditRoutes = ({ read, now, api }: RouteDeps) =>
  new Elysia({ prefix: '/audit', tags: ['Audit'] })
    .use(api)
    .get('', ({ page }) => page(), {
      ...entryList,
      scope: 'audit:read',
      members: true,
      detail: { operationId: 'listAuditEntries', summary: 'List the audit log, newest first' },
    })
    .get(
      '/report',
      ({ query: { cursor, direction }, orgId }) => {
        const from = cursor === undefined ? { direction, at: null } : readCursor(cursor, direction)
        return read(orgId, (sql) => getReport(sql, orgId, from, now()))
      },
      {
        scope: 'audit:read',
        query: AuditReportQuery,
        response: AuditReport,
        members: true,
        detail: { operationId: 'getAuditReport', summary: 'The audit log as a report, page by page' },
      },
    )
