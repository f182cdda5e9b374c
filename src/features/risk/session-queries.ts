// Reads one risk score with the sessions of the pull request, what of their cost is its
// (features/usage/pull-request-queries.ts), and the effective lines of its commits with those that agents wrote. With
// `onlyMember` only their sessions are listed, and the sums are still of all. Throws NOT_FOUND.

import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { TIME_PATTERN } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import { JsonText } from '../../base/json-text.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { riskColumns, riskFields } from './queries.ts'

/** Sessions in a response. */
const MAX_SESSIONS = 50
export async function getRisk(sql: Sql, orgId: string, id: string, onlyMember: VisibleMember | null) {
  const [row] = await sql<{ text: string }[]>`
    with pr as materialized (
      select ${riskColumns(sql)}, k.state, k.merged_at, k.closed_at, k.url, k.projects
      from pr_risks k
      where k.org_id = ${orgId}
        and k.id = ${id}
    ),
    found as materialized (
      select
        u.session_id, u.project, u.member, u.turns, u.session_cost, u.quality_score, u.created_at, u.findings, s.part
      from pr p
      join pr_sessions s
        on s.org_id = ${orgId}
        and s.repo = p.repo
        and s.pr_number = p.pr_number
      join session_usage u
        on u.org_id = ${orgId}
        and u.session_id = s.session_id
        and u.is_main
    ),
    -- a fork has its commits in two projects
    lines as (
      select coalesce(sum(a.effective_lines), 0) as effective, coalesce(sum(a.lines), 0) as ai
      from pr p
      join pr_commits g
        on g.org_id = ${orgId}
        and g.repo = p.repo
        and g.pr_number = p.pr_number
      cross join lateral (
        select a.effective_lines, a.lines
        from commit_ai a
        where a.org_id = ${orgId}
          and a.project = any (p.projects)
          and a.sha = g.sha
          and a.effective_lines is not null
        order by array_position(array['none', 'trailer', 'transcript', 'note'], a.provenance) desc, a.lines desc, a.project
        limit 1
      ) a
    )
    select
      '{' || ${sql.unsafe(riskFields('p'))} || ',"state":"' || p.state
        || '","merged_at":' || ${timeOrNull(sql, 'p.merged_at')} || ',"closed_at":' || ${timeOrNull(sql, 'p.closed_at')}
        || ',"url":' || coalesce(to_json(p.url)::text, 'null') || ',"effective_lines":' || l.effective
        || ',"ai_lines":' || l.ai
        || ',"ai_share":' || coalesce(trim_scale(round(l.ai / nullif(l.effective, 0), 6))::text, 'null')
        || ',"fix_rate":' || r.text || ',"sessions":' || (
        select '{"count":' || count(*) || ',"cost":' || coalesce(trim_scale(sum(f.part)), 0)
          || ',"average_quality":' || coalesce(trim_scale(round(avg(f.quality_score), 2)), 0)
          || ',"findings":' || coalesce(sum(f.findings), 0) || ',"data":['
        from found f
      ) || coalesce((
        select string_agg(
          '{"id":"' || s.session_id || '","project_name":' || coalesce(to_json(nullif(s.project, ''))::text, 'null') || ',"turns":' || s.turns
            || ',"estimated_cost":' || trim_scale(s.session_cost) || ',"part":' || trim_scale(s.part)
            || ',"quality_score":' || trim_scale(s.quality_score)
            || ',"created_at":"' || to_char(s.created_at at time zone 'UTC', ${TIME_PATTERN}) || '"}',
          ',' order by s.created_at desc, s.session_id desc
        )
        from (
          select f.*
          from found f
          ${onlyMember === null ? sql`` : sql`where f.member = ${onlyMember.id}`}
          order by f.created_at desc, f.session_id desc
          limit ${MAX_SESSIONS}
        ) s
      ), '') || ']}}' as text
    from pr p
    cross join lines l
    ${fixRateOf(sql, orgId)}`
  if (row === undefined) throw new ApiError('NOT_FOUND', 'no such pull request')
  return new JsonText(row.text)
}

const timeOrNull = (sql: Sql, column: string) => sql`
  coalesce(to_json(to_char(${sql.unsafe(column)} at time zone 'UTC', ${TIME_PATTERN}))::text, 'null')`

/** The newest merged pull requests of a rating that are looked at: the cost does not grow with the history. */
const MAX_PULL_REQUESTS = 100
/** Fewer tell nothing. */
const MIN_PULL_REQUESTS = 20
const FIX_DAYS = 30
/**
 * The condition of the index of fixes, text by text as migration 0024 has it: commits by people of at most 30 files (a larger
 * one fixes no pull request) whose subject has a word of a fix, as in regression.ts, or is a revert's, and no word of a fix
 * that mends no product.
 */
const IS_FIX = String.raw`c.files <= 30 and not c.bot
            and c.subject ~* '\y(hot)?fix(?!tur)|\ybug|\ydefect|^revert\y'
            and c.subject !~* '\y(typos?|docs?|documentation|changelog|lint|linter|spelling|format|formatting|flaky|tests?|testing|ci|build|website|deps?|types?|typings?|comments?|links?)\y'`

/** Row `r` with the JSON text of how often pull requests of the rating of row `p` were followed by a fix: docs/risk.md. */
const fixRateOf = (sql: ISql, orgId: string) => sql`
  cross join lateral (
    select
      '{"rating":"' || p.rating || '","pull_requests":' || count(*) || ',"followed_by_fix":' || count(*) filter (where m.is_followed)
        || ',"share":' || case
          when count(*) < ${MIN_PULL_REQUESTS} then 'null'
          else trim_scale(round(count(*) filter (where m.is_followed) / count(*)::numeric, 6))::text
        end || '}' as text
    from (
      select
        exists (
          select
          from unnest(k.projects) as o (project)
          cross join lateral (
            select array_agg(f.file) as files
            from (
              select g.sha
              from pr_commits g
              where g.org_id = ${orgId}
                and g.repo = k.repo
                and g.pr_number = k.pr_number
              union all
              select k.merge_commit
            ) own
            join commit_files f
              on f.org_id = ${orgId}
              and f.project = o.project
              and f.sha = own.sha
          ) changed
          join commits c
            on c.org_id = ${orgId}
            and c.project = o.project
            and c.committed_at > k.ended_at
            and c.committed_at <= k.ended_at + ${FIX_DAYS}::integer * interval '1 day'
            and ${sql.unsafe(IS_FIX)}
          join commit_files x
            on x.org_id = ${orgId}
            and x.project = c.project
            and x.sha = c.sha
            and x.file = any (changed.files)
          where c.sha is distinct from k.merge_commit
            and not starts_with(c.subject, k.pr_title)
        ) as is_followed
      from (
        select k.repo, k.pr_number, k.pr_title, k.projects, k.merge_commit, k.ended_at
        from pr_risks k
        where k.org_id = ${orgId}
          and k.rating = p.rating
          and k.state = 'merged'
        order by k.created_at desc, k.id desc
        limit ${MAX_PULL_REQUESTS}
      ) k
    ) m
  ) r`
