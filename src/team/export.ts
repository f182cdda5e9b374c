import type { Sql } from '../db/client.ts'
import type { MemberRecord } from '../records/member.ts'

type MemberRow = Required<Omit<MemberRecord, 'type' | 'joined_at'>> & { joined_at: Date }

/** Every member as a line of NDJSON. */
export async function exportMembers(sql: Sql, orgId: string): Promise<string> {
  const rows = await sql<MemberRow[]>`
    select m.id, m.email, m.display_name, m.role, m.joined_at
    from members m
    where m.org_id = ${orgId}
    order by m.joined_at, m.id`
  return rows.map((row) => `${JSON.stringify({ type: 'member', ...row })}\n`).join('')
}
