// Lists and counts findings for GET /findings; reads those that are decided or shown again, and the critical ones for GET /attention.

import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { TIME_PATTERN } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import { memberItem, memberOf, personGiven } from '../../database/member-addresses.ts'
import { inDays, unnest } from '../../database/rows.ts'
import { type ListViewer, listOf } from '../../http/list-queries.ts'
import { csvColumns } from '../../http/responses/csv.ts'
import type { Viewer } from '../../http/whole-list.ts'
import { FindingListQuery, FindingPage, ListedFinding } from './finding-model.ts'

/** Findings `f` as JSON text, with their members `m`, and with the note that only some have. */
const findingItem = (sql: ISql, hidesMembers: boolean): Fragment => sql`
  left(
    json_build_object(
      'id', f.id, 'rule_id', f.rule_id, 'category', f.category, 'severity', f.severity, 'title', f.title,
      'description', f.description, 'file', f.file, 'line', f.line, 'turn_number', f.turn_number,
      'fingerprint', f.fingerprint, 'status', f.status,
      'assignee', ${hidesMembers ? sql`null::text` : sql`f.assignee`},
      'created_at', to_char(f.created_at at time zone 'UTC', ${TIME_PATTERN}),
      'session_id', f.session_id, 'project', nullif(f.project, ''),
      'member', ${hidesMembers ? sql`null::json` : memberItem(sql, sql`f.member`)}
    )::text, -1
  ) || coalesce(',"note":' || to_json(f.note), '') || '}'`

function matchingFindings(
  sql: Sql,
  orgId: string,
  query: FindingListQuery,
  { onlyMember, zone }: ListViewer,
) {
  const { severity, rule_id, category, project, file, member, status, assignee } = query
  return sql`
    from findings f
    where f.org_id = ${orgId}
      ${visible(sql, onlyMember)}
      ${severity === undefined ? sql`` : sql`and f.severity = ${severity}`}
      ${rule_id === undefined ? sql`` : sql`and f.rule_id = ${rule_id}`}
      ${category === undefined ? sql`` : sql`and f.category = ${category}`}
      ${project === undefined ? sql`` : sql`and f.project = ${project}`}
      ${file === undefined ? sql`` : sql`and f.file_key = substr(sha256(convert_to(${file}, 'UTF8')), 1, 16)`}
      ${member === undefined ? sql`` : sql`and f.member = ${personGiven(sql, orgId, member)}`}
      ${status === undefined ? sql`` : sql`and f.status = ${status}`}
      ${assignee === undefined ? sql`` : assignee === '' ? sql`and f.assignee is null` : sql`and f.assignee = ${personGiven(sql, orgId, assignee)}`}
      ${inDays(sql, sql`f.created_at`, query, zone)}`
}

/** The findings, those of the newest sessions or the most severe first. */
export const findingList = listOf({
  query: FindingListQuery,
  page: FindingPage,
  columns: csvColumns(ListedFinding),
  parts: (sql, orgId, query, viewer) => {
    const matching = matchingFindings(sql, orgId, query, viewer)
    return {
      // earlier pages are passed over in an index
      rows: sql`select f.severity, f.created_at, f.session_id, f.position ${matching}`,
      order: sql`
        ${query.sort === 'severity' ? sql`array_position(array['critical', 'high', 'medium', 'low'], r.severity),` : sql``}
        r.created_at desc, r.session_id desc, r.position`,
      joins: sql`
        join findings f
          on f.org_id = ${orgId}
          and f.session_id = r.session_id
          and f.position = r.position
        ${memberOf(sql, orgId, sql`f.member`)}`,
      item: findingItem(sql, viewer.hidesMembers),
      ...(query.include !== undefined && { more: findingCounts(sql, orgId, matching, viewer) }),
    }
  },
  text: ({ items, more }, pagination) =>
    `{"data":[${items}],"pagination":${JSON.stringify(pagination)}${more && `,"counts":${more}`}}`,
})

/** Keys that are named of what has most findings. */
const MAX_MOST = 3
/** Categories that are counted, those with most findings; the program's own are four. */
const MAX_CATEGORIES = 10

/** Counts the findings by severity and category, and names who and what has most of them; as JSON text. */
function findingCounts(sql: Sql, orgId: string, matching: Fragment, { hidesMembers }: ListViewer): Fragment {
  const most = (key: Fragment, shown: Fragment, where: Fragment) => sql`(
    select coalesce(json_agg(json_build_object('key', ${shown}, 'findings', t.findings) order by t.findings desc, t.key), '[]')
    from (
      select ${key} collate "C" as key, sum(n.findings)::bigint as findings
      from counted n
      where ${where}
      group by 1
      order by 2 desc, 1
      limit ${MAX_MOST}
    ) t
    ${memberOf(sql, orgId, sql`t.key`)}
  )`
  const ofSeverity = (severity: string) =>
    sql`${severity}::text, (select coalesce(sum(n.findings), 0)::bigint from counted n where n.severity = ${severity})`
  const whose = (where: Fragment) => sql`
    'project', ${most(sql`n.project`, sql`nullif(t.key, '')`, where)},
    'member', ${hidesMembers ? sql`'[]'::json` : most(sql`n.member`, memberItem(sql, sql`t.key`), sql`${where} and n.member <> ''`)}`
  return sql`(
    with counted as materialized (
      select f.severity, f.category, f.project, f.member, count(*) as findings
      ${matching}
      group by 1, 2, 3, 4
    )
    select json_build_object(
      'severity', json_build_object(
        ${ofSeverity('critical')}, ${ofSeverity('high')}, ${ofSeverity('medium')}, ${ofSeverity('low')}
      ),
      'category', (
        select coalesce(
          json_agg(
            json_build_object('key', c.key, 'findings', c.findings, ${whose(sql`n.category = c.key`)})
            order by c.findings desc, c.key
          ),
          '[]'
        )
        from (
          select n.category collate "C" as key, sum(n.findings)::bigint as findings
          from counted n
          group by 1
          order by 2 desc, 1
          limit ${MAX_CATEGORIES}
        ) c
      ),
      ${whose(sql`true`)}
    )::text
  )`
}

const visible = (sql: ISql, onlyMember: VisibleMember | null): Fragment =>
  onlyMember === null ? sql`` : sql`and f.member = ${onlyMember.id}`

/** The sessions that have the finding. Throws NOT_FOUND. */
export async function findSessionsOf(sql: ISql, orgId: string, id: string, { onlyMember }: Viewer) {
  const rows = await sql<{ session_id: string }[]>`
    select distinct f.session_id
    from findings f
    where f.org_id = ${orgId}
      and f.id = ${id}
      ${visible(sql, onlyMember)}`
  if (rows.length === 0) throw new ApiError('NOT_FOUND', 'no such finding')
  return rows.map(({ session_id }) => session_id)
}

/** One finding, of the newest session that has it. Throws NOT_FOUND. */
export async function getFinding(sql: ISql, orgId: string, id: string, { hidesMembers, onlyMember }: Viewer) {
  const [row] = await sql<{ item: string }[]>`
    select ${findingItem(sql, hidesMembers)} as item
    from findings f
    ${memberOf(sql, orgId, sql`f.member`)}
    where f.org_id = ${orgId}
      and f.id = ${id}
      ${visible(sql, onlyMember)}
    order by f.created_at desc, f.session_id desc, f.position
    limit 1`
  if (row === undefined) throw new ApiError('NOT_FOUND', 'no such finding')
  return JSON.parse(row.item) as ListedFinding
}

/** The fixed findings that others of these fingerprints show again, whose sessions began later. */
export async function findShownAgain(
  tx: ISql,
  orgId: string,
  shown: readonly { session_id: string; fingerprint: string }[],
): Promise<{ id: string; session_id: string }[]> {
  if (shown.length === 0) return []
  return await tx<{ id: string; session_id: string }[]>`
    select distinct f.id, f.session_id
    from ${unnest(tx, shown, { session_id: 'text', fingerprint: 'text' })}
    join findings s
      on s.org_id = ${orgId}
      and s.session_id = n.session_id
      and s.fingerprint = n.fingerprint
      and s.status = 'open'
    join findings f
      on f.org_id = ${orgId}
      and f.status = 'fixed'
      and f.fingerprint = s.fingerprint
      and f.project = s.project
      and f.file is not distinct from s.file
      and f.created_at < s.created_at`
}

/** Open critical findings that are named, the oldest. */
const MAX_NAMED = 3

/** The number of open critical findings, and the oldest of them. */
export async function findCritical(sql: Sql, orgId: string, { hidesMembers, onlyMember }: Viewer) {
  const critical = sql`
    from findings f
    where f.org_id = ${orgId}
      and f.severity = 'critical'
      and f.status = 'open'
      ${visible(sql, onlyMember)}`
  const [row] = await sql<{ total: number; oldest: string[] | null }[]>`
    select
      (select count(*)::integer ${critical}) as total,
      (
        select json_agg(p.item order by p.created_at, p.session_id, p.position)
        from (
          select f.created_at, f.session_id, f.position, ${findingItem(sql, hidesMembers)} as item
          from (
            select f.*
            ${critical}
            order by f.created_at, f.session_id, f.position
            limit ${MAX_NAMED}
          ) f
          ${memberOf(sql, orgId, sql`f.member`)}
        ) p
      ) as oldest`
  const oldest = (row?.oldest ?? []).map((item) => JSON.parse(item) as ListedFinding)
  return { total: row?.total ?? 0, oldest }
}
