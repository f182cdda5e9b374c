// Reads the whole record of one session, as JSON text: the stored detail is put behind the list's fields as it is. With
// `hidesMembers` its user is null. Throws NOT_FOUND, also for an id of another organization, and with `onlyMember` for one
// of somebody else.

import { SESSION_NOTE_NAMES } from '../../analysis/records/session.ts'
import { ApiError } from '../../base/errors.ts'
import { JsonText } from '../../base/json-text.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { memberOf } from '../../database/member-addresses.ts'
import type { Viewer } from '../../http/whole-list.ts'
import { withAssignees } from './model.ts'
import { LIST_FIELDS } from './row-queries.ts'

/**
 * Row `l` with the JSON text of what became of a session's commits, for the fields `landed`, `reverted` and `survival`. A revert
 * names a commit by its subject or hash, as `git revert` and GitHub do, where it was squashed without the pull request's number.
 */
const landingOf = (sql: ISql, orgId: string, id: string) => sql`
  (
    select
      ',"landed":' || coalesce(bool_or(c.landed)::text, 'null')
        || ',"reverted":' || coalesce(bool_or(c.reverted)::text, 'null')
        || ',"survival":{"14":' || ${shareText(sql, 14)} || ',"30":' || ${shareText(sql, 30)} || '}' as text
    from (
      select
        a.lines, a.survival_14, a.survival_30, a.on_default_branch is not false as landed,
        exists (
          select
          from commits r
          where r.org_id = ${orgId}
            and r.project = m.project
            and r.subject ilike '%revert%'
            and r.committed_at > m.committed_at
            and (
              strpos(r.subject, m.sha) > 0
              or starts_with(r.subject, 'Revert "' || m.subject || '"')
              or starts_with(r.subject, 'Revert "' || regexp_replace(m.subject, ' \\(#[0-9]+\\)$', '') || '"')
            )
        ) as reverted
      from commit_ai a
      join commits m
        on m.org_id = ${orgId}
        and m.project = a.project
        and m.sha = a.sha
      where a.org_id = ${orgId}
        and a.sessions @> array[${id}::text]
    ) c
  ) l`

/** The share of the landed commits' lines that is left. */
const shareText = (sql: ISql, days: 14 | 30) => {
  const left = sql.unsafe(`c.survival_${days}`)
  return sql`coalesce(
    trim_scale(round(sum(${left}) filter (where c.landed)
      / nullif(sum(c.lines) filter (where c.landed and ${left} is not null), 0), 6))::text,
    'null'
  )`
}

export async function getSession(
  sql: Sql,
  orgId: string,
  id: string,
  { hidesMembers = false, onlyMember = null }: Partial<Viewer> = {},
): Promise<JsonText> {
  const [row] = await sql<{ head: string; detail: string }[]>`
    select
      ${sql.unsafe(LIST_FIELDS)} || ',"user_id":' || ${hidesMembers ? sql`'null'` : sql`coalesce(to_json(coalesce(r.user_id, m.id))::text, 'null')`}
        || ',"unpriced_tokens":' || r.unpriced_tokens || l.text as head,
      d.detail::text as detail
    from sessions r
    join session_details d on d.org_id = r.org_id and d.session_id = r.id
    join session_usage u
      on u.org_id = r.org_id
      and u.session_id = r.id
      and u.is_main
    ${memberOf(sql, orgId, sql`u.member`)}
    cross join ${landingOf(sql, orgId, id)}
    where r.org_id = ${orgId}
      and r.id = ${id}
      ${onlyMember === null ? sql`` : sql`and u.member = ${onlyMember.id}`}`
  if (row === undefined) throw new ApiError('NOT_FOUND', 'no such session')
  // no text in JSON has a quote without an escape
  const head = row.detail.slice(0, row.detail.indexOf('"turn_records":'))
  const lacking = ['stated_cost', ...SESSION_NOTE_NAMES].filter((name) => !head.includes(`"${name}":`))
  const nulls = lacking.map((name) => `,"${name}":null`).join('')
  return new JsonText(`${row.head}${nulls},${withAssignees(row.detail.slice(1), hidesMembers)}`)
}
