-- Risk scores of pull requests, what else is known of them, and which sessions can be theirs.
create table pr_risks (
  org_id text not null,
  repo text not null,
  pr_number integer not null,
  -- compared byte by byte, so that every server orders scores of one instant alike
  id text collate "C" not null,
  pr_title text not null,
  files_changed integer not null,
  created_at timestamptz not null,
  impact_score numeric(5, 2) not null,
  regression_score numeric(5, 2) not null,
  security_score numeric(5, 2) not null,
  coupling_score numeric(5, 2) not null,
  risk_score smallint not null check (risk_score between 0 and 100),
  rating text not null generated always as (
    case
      when risk_score <= 30 then 'low'
      when risk_score <= 60 then 'medium'
      when risk_score <= 80 then 'high'
      else 'critical'
    end
  ) stored,
  -- json, not jsonb: returned as written
  contributions json not null,
  -- SHA-256 of the record that the parts were computed from; null: the record contained the parts
  input_hash bytea,
  -- project, branch and commits, by which its sessions are found; null: not known
  origin json,
  state text not null default 'open' check (state in ('open', 'merged', 'closed')),
  merged_at timestamptz,
  closed_at timestamptz,
  merge_commit text,
  url text,
  default_branch text,
  -- lower case
  author_email text,
  -- the projects that sessions of its branch are of
  projects text[] not null generated always as (
    case
      when origin->>'project' is null then array[repo, regexp_replace(repo, '^.*/', '')]
      else array[origin->>'project']
    end
  ) stored,
  -- the branch whose sessions are its; null: not known, or the repository's default branch, whose sessions are anybody's
  head text generated always as (
    case
      when origin->>'branch' = default_branch then null
      when default_branch is null and origin->>'branch' in ('main', 'master') then null
      else origin->>'branch'
    end
  ) stored,
  -- time when it was merged or closed
  ended_at timestamptz not null generated always as (coalesce(merged_at, closed_at, 'infinity')) stored,
  primary key (org_id, repo, pr_number),
  unique (org_id, id)
);
create index pr_risks_by_time on pr_risks (org_id, created_at, id);
create index pr_risks_by_repo on pr_risks (org_id, repo, created_at, id);
create index pr_risks_by_rating on pr_risks (org_id, rating, created_at, id);
create index pr_risks_by_repo_rating on pr_risks (org_id, repo, rating, created_at, id);
create index pr_risks_by_state on pr_risks (org_id, state, created_at, id);
create index pr_risks_by_repo_state on pr_risks (org_id, repo, state, created_at, id);
create index pr_risks_by_rating_state on pr_risks (org_id, rating, state, created_at, id);
create index pr_risks_by_repo_rating_state on pr_risks (org_id, repo, rating, state, created_at, id);
create index pr_risks_by_head on pr_risks (org_id, head, created_at) where head is not null;

-- Scores per UTC day; '' stands for all repositories, all ratings or all states, so that each score is counted in eight
-- rows. A list's total, and the day that a page begins on, are read from one row per day.
create table risk_rollups (
  org_id text not null,
  repo text not null,
  rating text not null,
  bucket date not null,
  prs bigint not null,
  state text not null,
  primary key (org_id, repo, rating, state, bucket)
) with (fillfactor = 70);

-- The commits of pull requests, from pr_risks.origin: which pull requests a session's commits belong to.
create table pr_commits (
  org_id text not null,
  repo text not null,
  pr_number integer not null,
  sha text collate "C" not null,
  primary key (org_id, repo, pr_number, sha)
);
create index pr_commits_by_sha on pr_commits (org_id, sha);

-- The pull requests that agents noted in sessions.
create table session_links (
  org_id text not null,
  repo text not null,
  pr_number integer not null,
  session_id text not null,
  primary key (org_id, repo, pr_number, session_id)
);
create index session_links_by_session on session_links (org_id, session_id);

-- The parts of sessions' costs that belong to pull requests, in micro-dollars that add up to the session. They are
-- derived from links, commits and branches (usage/pull-request-queries.ts). The rest is copied from session_usage.
create table pr_sessions (
  org_id text not null,
  session_id text not null,
  repo text not null,
  pr_number integer not null,
  part numeric(14, 6) not null,
  project text not null,
  member text not null,
  agent text not null,
  day date not null,
  primary key (org_id, session_id, repo, pr_number)
);
create index pr_sessions_by_pull_request on pr_sessions (org_id, repo, pr_number);
create index pr_sessions_by_day on pr_sessions (org_id, day) include (part, project, member, agent);

-- Pull requests, and the parts of sessions in them, per day and month (UTC): GET /v1/outcomes. `facts`: the number of pull
-- requests, parts, and agents of pull requests.
create table outcome_rollups (
  org_id text not null,
  dims text not null,
  grain text not null check (grain in ('day', 'month')),
  bucket date not null,
  project text not null,
  repo text not null,
  member text not null,
  agent text not null,
  facts bigint not null,
  open numeric not null,
  merged numeric not null,
  closed numeric not null,
  -- parts under their pull requests, and under their sessions
  linked_cost numeric not null,
  linked_of_cost numeric not null,
  primary key (org_id, dims, grain, bucket, project, repo, member, agent)
) with (fillfactor = 70);

-- The latest that a repository's host said of a pull request, also of one whose record did not come yet.
create table pr_events (
  org_id text not null,
  repo text not null,
  pr_number integer not null,
  updated_at timestamptz not null,
  -- title, branch and lifecycle
  told json not null,
  primary key (org_id, repo, pr_number)
);

-- The tickets of sessions, in branches and in the branches and titles of their pull requests (usage/ticket-write.ts). What a
-- session cost is divided among its `parts` tickets; the last has the rest.
create table session_tickets (
  org_id text not null,
  session_id text not null,
  ticket text not null,
  nth integer not null,
  parts integer not null,
  primary key (org_id, session_id, ticket)
);
create index session_tickets_by_ticket on session_tickets (org_id, ticket, session_id);
