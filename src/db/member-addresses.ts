import type { Fragment, ISql } from './client.ts'

/**
 * A subquery of members by every address they have: `address`, the member's `id` and own `email`. What is stored keeps the
 * address that it was sent with; whose that is, is looked up when it is read.
 */
export const memberAddresses = (sql: ISql, orgId: string): Fragment => sql`
  (
    select m.id, m.email, m.email as address
    from members m
    where m.org_id = ${orgId}
    union all
    select m.id, m.email, l.email as address
    from member_aliases l
    join members m on m.org_id = l.org_id and m.email = l.member_email
    where l.org_id = ${orgId}
  )`
