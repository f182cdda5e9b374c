import type { MemberRecord } from '../../analysis/records/member.ts'
import type { Sql } from '../../database/client.ts'
import { aliasColumn } from './queries.ts'

type MemberRow = Required<Omit<MemberRecord, 'type' | 'joined_at' | 'team' | 'aliases'>> & {
  joined_at: Date
  team: string | null
  aliases: string[]
}

/** Every member as a line of NDJSON. */
export async function exportMembers(sql: Sql, orgId: string): Promise<string> {
  const rows = await sql<MemberRow[]>`
    select m.id, m.email, m.display_name, m.role, m.joined_at, m.team,
      ${aliasColumn(sql)}
    from members m
    where m.org_id = ${orgId}
    order by m.joined_at, m.id`
  return rows
    .map(({ team, aliases, ...row }) => {
      const further = { ...(team === null ? {} : { team }), ...(aliases.length > 0 ? { aliases } : {}) }
      const record = { type: 'member', ...row, ...further }
      return `${JSON.stringify(record)}\n`
    })
    .join('')
}
