-- What is known of a pull request besides its risk, and which sessions can be its.
alter table pr_risks
  add column state text not null default 'open',
  add column merged_at timestamptz,
  add column closed_at timestamptz,
  add column merge_commit text,
  add column url text,
  add column default_branch text,
  -- the projects that sessions of its branch are of
  add column projects text[] not null generated always as (
    case
      when origin->>'project' is null then array[repo, regexp_replace(repo, '^.*/', '')]
      else array[origin->>'project']
    end
  ) stored,
  -- the branch whose sessions are its; null: not known, or the repository's default branch, whose sessions are anybody's
  add column head text generated always as (
    case
      when origin->>'branch' = default_branch then null
      when default_branch is null and origin->>'branch' in ('main', 'master') then null
      else origin->>'branch'
    end
  ) stored,
  -- when it was merged or closed
  add column ended_at timestamptz not null generated always as (coalesce(merged_at, closed_at, 'infinity')) stored;
-- apart: a cluster of Citus refuses a check beside other changes
alter table pr_risks add constraint pr_risks_state_check check (state in ('open', 'merged', 'closed'));
create index pr_risks_by_head on pr_risks (org_id, head, created_at) where head is not null;
create index pr_risks_by_state on pr_risks (org_id, state, created_at, id);
create index pr_risks_by_repo_state on pr_risks (org_id, repo, state, created_at, id);
create index pr_risks_by_rating_state on pr_risks (org_id, rating, state, created_at, id);
create index pr_risks_by_repo_rating_state on pr_risks (org_id, repo, rating, state, created_at, id);

-- '' stands for all states: each score is counted in eight rows
alter table risk_rollups add column state text not null default '';
alter table risk_rollups alter column state drop default;
alter table risk_rollups drop constraint risk_rollups_pkey;
alter table risk_rollups add constraint risk_rollups_pkey primary key (org_id, repo, rating, state, bucket);
insert into risk_rollups (org_id, repo, rating, state, bucket, prs)
select r.org_id, r.repo, r.rating, 'open', r.bucket, r.prs
from risk_rollups r;

-- The commits of pull requests, from pr_risks.origin: which pull requests a session's commits belong to.
create table pr_commits (
  org_id text not null,
  repo text not null,
  pr_number integer not null,
  sha text collate "C" not null,
  primary key (org_id, repo, pr_number, sha)
);
create index pr_commits_by_sha on pr_commits (org_id, sha);
insert into pr_commits (org_id, repo, pr_number, sha)
select distinct k.org_id, k.repo, k.pr_number, c.sha
from pr_risks k
cross join lateral json_array_elements_text(k.origin->'commits') as c (sha);
