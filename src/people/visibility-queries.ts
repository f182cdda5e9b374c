import type { Sql } from '../db/client.ts'
import { memberAddresses } from '../db/member-addresses.ts'

/** A member who sees no figures but their own. */
export interface Own {
  id: string
  /** The id and all addresses: a session has one of them. */
  keys: readonly string[]
}

/** The developer with this own address, where the organization shows developers only their own figures; else null. */
export async function findOwn(sql: Sql, orgId: string, email: string): Promise<Own | null> {
  const [row] = await sql<{ id: string; addresses: string[] }[]>`
    select a.id, array_agg(a.address) as addresses
    from organizations o
    join members m on m.org_id = o.org_id
    join ${memberAddresses(sql, orgId)} a on a.id = m.id
    where o.org_id = ${orgId}
      and o.member_visibility = 'own'
      and m.email = ${email}
      and m.role = 'developer'
    group by a.id`
  return row === undefined ? null : { id: row.id, keys: [row.id, ...row.addresses] }
}
