-- Fixes, which GET /v1/risk/:pr_id looks for after each pull request of a rating: risk/session-queries.ts has the same condition.
create index commits_fixes on commits (org_id, project, committed_at, sha)
  where files <= 30 and not bot
    and subject ~* '\y(hot)?fix(?!tur)|\ybug|\ydefect|^revert\y'
    and subject !~* '\y(typos?|docs?|documentation|changelog|lint|linter|spelling|format|formatting|flaky|tests?|testing|ci|build|website|deps?|types?|typings?|comments?|links?)\y';
