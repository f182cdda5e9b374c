import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { compareText } from '../../base/text.ts'
import type { ISql, Sql } from '../../database/client.ts'
import type { DomainExpertise, Expertise } from './model.ts'

interface ExpertiseRow extends Omit<DomainExpertise, 'score' | 'ownership_percent' | 'last_active_at'> {
  email: string
  user_id: string | null
  display_name: string | null
  score: string
  ownership_percent: string
  last_at: Date
}

/**
 * The expertise by person and domain, as computed when commits were written. The cost depends on the size of the result
 * only. With `onlyMember` only theirs, and no other owner of a domain is named.
 */
export async function getExpertise(
  sql: Sql,
  orgId: string,
  onlyMember: VisibleMember | null,
): Promise<Expertise> {
  // one snapshot for all queries
  return await sql.begin('isolation level repeatable read read only', async (tx) => {
    const rows = await tx<ExpertiseRow[]>`
      select
        e.author_email as email, m.id as user_id, m.display_name, e.project || '/' || e.directory as domain,
        e.score, e.commits, (coalesce(i.sessions, 0) + coalesce(a.sessions, 0))::integer as sessions,
        e.files_owned, e.ownership_percent, d.primary_email is not distinct from e.author_email as is_primary_owner, e.last_at
      from expertise_authors e
      join expertise_domains d on d.org_id = e.org_id and d.project = e.project and d.directory = e.directory
      left join members m on m.org_id = e.org_id and m.email = e.author_email
      left join session_directories i
        on i.org_id = e.org_id and i.user_key = m.id and i.project = e.project and i.directory = e.directory
      left join session_directories a
        on a.org_id = e.org_id and a.user_key = e.author_email and a.project = e.project and a.directory = e.directory
      where e.org_id = ${orgId}
        and e.score is not null
        and (m.id is not null or e.files_owned > 0)
        ${onlyMember === null ? sql`` : sql`and m.id = ${onlyMember.id}`}
      order by m.joined_at nulls last, m.id, e.author_email, e.score desc,
        (e.project || '/' || e.directory) collate "C"`
    const others = await aliasCounts(tx, orgId)
    for (const row of rows) {
      const other = others.get(`${row.email}\0${row.domain}`)
      row.commits += other?.commits ?? 0
      row.sessions += other?.sessions ?? 0
    }
    const names = await authorNames(tx, orgId, [
      ...new Set(rows.flatMap((row) => (row.user_id === null ? [row.email] : []))),
    ])
    const domains = await tx<Expertise['domains']>`
      select d.project || '/' || d.directory as domain, d.files, d.bus_factor, m.id as primary_owner_id
      from expertise_domains d
      left join members m on m.org_id = d.org_id and m.email = d.primary_email
        ${onlyMember === null ? sql`` : sql`and m.id = ${onlyMember.id}`}
      where d.org_id = ${orgId}
      order by (d.project || '/' || d.directory) collate "C"`
    return { data: peopleOf(rows, names), domains: [...domains] }
  })
}

/** Counts the work of members in each domain with their aliases, by own address and domain. */
async function aliasCounts(sql: ISql, orgId: string) {
  const rows = await sql<{ email: string; domain: string; commits: number; sessions: number }[]>`
    select
      c.email, c.project || '/' || c.directory as domain, sum(c.commits)::integer as commits,
      sum(c.sessions)::integer as sessions
    from (
      select l.member_email as email, e.project, e.directory, e.commits, 0 as sessions
      from member_aliases l
      join expertise_authors e on e.org_id = l.org_id and e.author_email = l.email
      where l.org_id = ${orgId}
      union all
      select l.member_email, a.project, a.directory, 0, a.sessions
      from member_aliases l
      join session_directories a on a.org_id = l.org_id and a.user_key = l.email
      where l.org_id = ${orgId}
    ) c
    group by c.email, c.project, c.directory`
  return new Map(rows.map((row) => [`${row.email}\0${row.domain}`, row]))
}

/** The author names of the latest commits of these e-mail addresses. */
async function authorNames(sql: ISql, orgId: string, emails: string[]): Promise<Map<string, string>> {
  if (emails.length === 0) return new Map()
  const rows = await sql<{ email: string; author_name: string }[]>`
    select n.email, c.author_name
    from unnest(${emails}::text[]) as n (email)
    cross join lateral (
      select c.author_name
      from commits c
      where c.org_id = ${orgId}
        and c.author_email = n.email
      order by c.committed_at desc, c.sha desc
      limit 1
    ) c`
  return new Map(rows.map((row) => [row.email, row.author_name]))
}

function peopleOf(rows: readonly ExpertiseRow[], names: ReadonlyMap<string, string>): Expertise['data'] {
  const people = new Map<string, Expertise['data'][number] & { email: string }>()
  for (const row of rows) {
    const { email, user_id } = row
    // e-mail addresses of authors who are not members are personal data: only their names are shown
    const display_name = row.display_name ?? (names.get(email) || (email.split('@')[0] ?? email))
    const person = people.getOrInsertComputed(email, () => ({ email, user_id, display_name, domains: [] }))
    person.domains.push(domainOf(row))
  }
  const all = [...people.values()]
  const others = all.filter((person) => person.user_id === null)
  others.sort((a, b) => compareText(a.display_name, b.display_name) || compareText(a.email, b.email))
  return [...all.filter((person) => person.user_id !== null), ...others].map(
    ({ email: _email, ...person }) => person,
  )
}

const domainOf = (row: ExpertiseRow): DomainExpertise => ({
  domain: row.domain,
  score: Number(row.score),
  commits: row.commits,
  sessions: row.sessions,
  files_owned: row.files_owned,
  ownership_percent: Number(row.ownership_percent),
  is_primary_owner: row.is_primary_owner,
  last_active_at: row.last_at.toISOString(),
})
