import { rollup } from '../../database/rollups.ts'

/** Entries by day and of all time; '' stands for all users or actions. */
export const AUDIT_ROLLUP = rollup({
  name: 'audit_rollups',
  key: ['grain', 'action', 'bucket', 'user_id'],
  sums: ['entries'],
  rows: (sql, orgId) => sql`
    from audit_log s
    where s.org_id = ${orgId}`,
  count: (sql, rows) => sql`
    select c.grain, c.user_id, c.action, c.bucket, sum(d.entries)::bigint as entries
    from (
      select s.user_id, s.action, (s.created_at at time zone 'UTC')::date as day, count(*) as entries
      ${rows}
      group by 1, 2, 3
    ) d
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
    group by c.grain, c.user_id, c.action, c.bucket`,
  describe: ({ grain, bucket }) => `audit log, ${grain} ${bucket}`,
})
