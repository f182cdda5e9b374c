import type { ISql } from '../db/client.ts'
import type { DerivedTable, OrgId } from '../db/derived-tables.ts'

/** The counts, computed from the log. */
const fromLog = (sql: ISql, orgId: OrgId) => sql`
  with days as (
    select l.user_id, l.action, (l.created_at at time zone 'UTC')::date as day, count(*) as entries
    from audit_log l
    where l.org_id = ${orgId}
    group by 1, 2, 3
  )
  select c.grain, c.user_id, c.action, c.bucket, sum(d.entries)::bigint as entries
  from days d
  cross join lateral (
    values
      ('day', d.user_id, d.action, d.day),
      ('day', d.user_id, '', d.day),
      ('day', '', d.action, d.day),
      ('day', '', '', d.day),
      ('all', d.user_id, '', date '1970-01-01'),
      ('all', '', d.action, date '1970-01-01'),
      ('all', '', '', date '1970-01-01')
  ) as c (grain, user_id, action, bucket)
  group by c.grain, c.user_id, c.action, c.bucket`

/** The counts of audit entries. */
export const AUDIT_TABLES: readonly DerivedTable[] = [
  {
    name: 'audit_rollups',
    columns: ['grain', 'action', 'bucket', 'user_id', 'entries'],
    query: fromLog,
    describe: ({ grain, bucket }) => `audit log, ${grain} ${bucket}`,
  },
]
