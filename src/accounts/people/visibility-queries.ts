// Reads a member's role, and whether the member sees the figures of others.

import type { Role } from '../../analysis/records/member.ts'
import type { Sql } from '../../database/client.ts'
import { memberAddresses } from '../../database/member-addresses.ts'

/** A member who sees no figures but their own. */
export interface VisibleMember {
  id: string
  /** The id and all addresses, by which a filter may name them. */
  keys: readonly string[]
}

/** The role of the member with this own address, and whose figures they see (null: everybody's). Undefined: no member's. */
export async function findStanding(sql: Sql, orgId: string, email: string) {
  const [row] = await sql<{ id: string; role: Role; addresses: string[]; seesOwn: boolean }[]>`
    select m.id, m.role, array_agg(a.address) as addresses,
      o.member_visibility = 'own' and m.role = 'developer' as "seesOwn"
    from organizations o
    join members m on m.org_id = o.org_id
    join ${memberAddresses(sql, orgId)} a on a.id = m.id
    where o.org_id = ${orgId}
      and m.email = ${email}
    group by m.id, m.role, o.member_visibility`
  if (row === undefined) return undefined
  const { id, role, addresses, seesOwn } = row
  const onlyMember: VisibleMember | null = seesOwn ? { id, keys: [id, ...addresses] } : null
  return { role, onlyMember }
}
