import type { Sql } from '../db/client.ts'
import type { MemberRecord } from '../records/member.ts'
import { aliasColumn } from './queries.ts'

type MemberRow = Required<Omit<MemberRecord, 'type' | 'joined_at' | 'aliases'>> & {
  joined_at: Date
  aliases: string[]
}

/** Every member as a line of NDJSON. */
export async function exportMembers(sql: Sql, orgId: string): Promise<string> {
  const rows = await sql<MemberRow[]>`
    select m.id, m.email, m.display_name, m.role, m.joined_at,
      ${aliasColumn(sql)}
    from members m
    where m.org_id = ${orgId}
    order by m.joined_at, m.id`
  return rows
    .map(({ aliases, ...row }) => {
      const record = { type: 'member', ...row, ...(aliases.length > 0 ? { aliases } : {}) }
      return `${JSON.stringify(record)}\n`
    })
    .join('')
}
