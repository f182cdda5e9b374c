import type { ISql } from '../../database/client.ts'

/**
 * Row `l` with the JSON text of what became of a session's commits, for the fields `landed`, `reverted` and `survival`. A revert
 * names a commit by its subject or hash, as `git revert` and GitHub do, where it was squashed without the pull request's number.
 */
export const landingOf = (sql: ISql, orgId: string, id: string) => sql`
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
