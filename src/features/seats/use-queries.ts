import type { ISql } from '../../database/client.ts'

/** Selects what was used on the days of a range, by member, vendor, payer and day; `sessions`: those that began on the day. */
export const usedOnDays = (sql: ISql, orgId: string, { from, to }: { from: string; to: string }) => sql`
  select u.member, u.vendor, u.paid_by, u.day, u.cost, case when u.is_main then 1 else 0 end as sessions
  from session_usage u
  where u.org_id = ${orgId}
    and u.day >= ${from}::date
    and u.day <= ${to}::date
    -- nothing tells who is paid
    and u.vendor <> ''`
