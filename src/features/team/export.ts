import type { Sql } from '../../database/client.ts'
import { listMembersWithAliases } from './queries.ts'

/** Every member as a line of NDJSON. */
export async function exportMembers(sql: Sql, orgId: string): Promise<string> {
  const members = await listMembersWithAliases(sql, orgId)
  return members
    .map(({ team, aliases, ...row }) => {
      const further = { ...(team === null ? {} : { team }), ...(aliases.length > 0 ? { aliases } : {}) }
      return `${JSON.stringify({ type: 'member', ...row, ...further })}\n`
    })
    .join('')
}
