import { type Static, Type } from '@sinclair/typebox'
import { closed, component, Flag, nullable, Text, Timestamp } from '../../analysis/records/fields.ts'
import { oneOf, oneOfOr, Paged, PageOf, textFilter, UtcDateFrom, UtcDateTo } from '../../http/query.ts'

const MAX_FILTER_LENGTH = 200
/** A time has 10 to 35 characters. */
const MAX_CURSOR_LENGTH = 64
/** Entries per response. */
export const MAX_REPORT_ENTRIES = 10_000

export const AuditListQuery = Type.Object({
  ...Paged,
  action: textFilter(
    'Only this action, or those that begin alike: `webhook.*`',
    'api_key.created',
    MAX_FILTER_LENGTH,
  ),
  user_id: textFilter('Only entries of this actor', 'key_4f1c2a9b', MAX_FILTER_LENGTH),
  date_from: UtcDateFrom,
  date_to: UtcDateTo,
})
export type AuditListQuery = Static<typeof AuditListQuery>

export const AuditReportQuery = Type.Object({
  cursor: textFilter(
    'Where to go on, as `next_cursor` says: a date and time, or a date; UTC without an offset',
    '2026-01-31T12:34:56.789123Z',
    MAX_CURSOR_LENGTH,
  ),
  direction: oneOfOr(
    ['before', 'after'],
    'before',
    'before: entries older than the cursor, newest first; after: newer, oldest first',
  ),
})
export type AuditReportQuery = Static<typeof AuditReportQuery>

export const AuditEntry = component('AuditEntry', {
  id: Type.String({ examples: ['log_0k3w'] }),
  action: Type.String({ examples: ['api_key.created'] }),
  user_id: Text(
    'Who did it: `key_…` an API key, `cli:…` somebody at the command line, or as imported',
    'key_4f1c2a9b',
  ),
  details: Type.Object({}, { description: 'What was done; `ids` are those of what was changed' }),
  ip_address: Text('empty where none is known: commands', '203.0.113.7'),
  // no `format`: validating it takes half the time of a response with 10,000 entries, and PostgreSQL formats it
  created_at: Text(
    'UTC, microseconds; no two entries of an organization have the same',
    '2026-01-31T12:34:56.789123Z',
  ),
})
export type AuditEntry = Static<typeof AuditEntry>
export const AuditPage = PageOf(AuditEntry)

const count = Type.Integer({ minimum: 0 })

export const ReportSummary = closed({
  total: count,
  by_action: Type.Array(closed({ action: Type.String({ examples: ['session.synced'] }), count }), {
    description: 'By count descending, then by name',
  }),
  by_user: Type.Array(closed({ user_id: Type.String({ examples: ['key_4f1c2a9b'] }), count }), {
    description: 'By count descending, then by name',
  }),
  by_day: Type.Array(closed({ date: Type.String({ examples: ['2026-01-31'] }), count }), {
    description: 'Ascending; only UTC days with entries',
  }),
})
export type ReportSummary = Static<typeof ReportSummary>

export const AuditReport = component('AuditReport', {
  source: oneOf(['pregenerated', 'fallback'], {
    description: 'Whether a compliance report was made, or this is read from the log',
  }),
  report_id: nullable(Type.String({ examples: ['report_7m2k'] })),
  generated_at: Timestamp('When the report was made; of the fallback: time of the newest entry'),
  period: closed(
    { from: Type.String({ examples: ['2026-01-01'] }), to: Type.String({ examples: ['2026-03-31'] }) },
    { description: 'UTC days, inclusive; of the fallback: the whole log' },
  ),
  summary: ReportSummary,
  data: Type.Array(AuditEntry, { maxItems: MAX_REPORT_ENTRIES }),
  truncated: Flag('Whether there are more'),
  next_cursor: nullable(
    Type.String({
      format: 'timestamp',
      description: 'created_at of the last entry here: the cursor to give next',
      examples: ['2026-01-31T12:34:56.789123Z'],
    }),
  ),
})
export type AuditReport = Static<typeof AuditReport>

/** A compliance report for the command line. */
export interface ReportAbout {
  id: string
  report_type: string
  from: string
  to: string
  generated_at: string
  total: number
}
