-- Commit history, and who knows which file. Paths, hashes and addresses are compared byte by byte (collate "C"), so
-- that every server orders commits of one second alike.

create table commits (
  org_id text not null,
  project text not null,
  sha text collate "C" not null,
  -- lower case, as in members
  author_email text collate "C" not null,
  author_name text not null,
  committed_at timestamptz not null,
  subject text,
  -- sums over commit_files
  files integer not null,
  additions bigint not null,
  deletions bigint not null,
  -- a bot's commit adds, renames and deletes files, and counts for no author
  bot boolean not null,
  -- SHA-256 of the canonical record: a record that is sent again changes nothing
  content_hash bytea not null,
  primary key (org_id, project, sha)
);
create index commits_by_author on commits (org_id, author_email, committed_at, sha);
-- the history that a risk score is computed from: a project's latest commits by people with at most 30 files
-- (MAX_CHANGE_SET)
create index commits_for_risk on commits (org_id, project, committed_at, sha) where files <= 30 and not bot;

-- One row per file of a commit. Author, time and bot are copies of the commit's: every count is made from this table
-- alone.
create table commit_files (
  org_id text not null,
  project text not null,
  sha text collate "C" not null,
  -- its name in that commit
  path text collate "C" not null,
  -- its name after all later renames
  file text collate "C" not null,
  -- the top-level directory of `file`, '.' without one
  directory text collate "C" not null generated always as (
    case when strpos(file, '/') = 0 then '.' else split_part(file, '/', 1) end
  ) stored,
  previous_path text collate "C",
  status text not null check (status in ('added', 'modified', 'deleted', 'renamed')),
  additions integer not null,
  deletions integer not null,
  author_email text collate "C" not null,
  committed_at timestamptz not null,
  bot boolean not null,
  primary key (org_id, project, sha, path),
  check ((status = 'renamed') = (previous_path is not null))
);
-- a file's history; its revisions of the last months are a range of it
create index commit_files_by_file on commit_files (org_id, project, file, committed_at, sha);
-- the next rename of a name after a commit
create index commit_files_renames on commit_files (org_id, project, previous_path, committed_at, sha)
  where status = 'renamed';

-- One row per current name of a file, present or deleted. Commits of bots count in `loc` only.
create table files (
  org_id text not null,
  project text not null,
  path text collate "C" not null,
  -- the top-level directory, '.' without one
  directory text collate "C" not null generated always as (
    case when strpos(path, '/') = 0 then '.' else split_part(path, '/', 1) end
  ) stored,
  -- commits that changed it
  commits integer not null,
  additions bigint not null,
  deletions bigint not null,
  -- lines it has now, as far as the known commits tell: added less deleted
  loc bigint not null,
  -- author of the earliest commit that added it; null when none is known, or when its author is a bot
  creator_email text collate "C",
  created_at timestamptz,
  created_sha text collate "C",
  first_at timestamptz not null,
  -- time of the latest commit, bots included: it decides whether the file is deleted
  last_at timestamptz not null,
  last_sha text collate "C" not null,
  deleted boolean not null,
  primary key (org_id, project, path)
);
create index files_living on files (org_id, project, directory, path) where not deleted and commits > 0;

-- Commits per file and author, without bots.
create table file_authors (
  org_id text not null,
  project text not null,
  path text collate "C" not null,
  author_email text collate "C" not null,
  commits integer not null,
  last_at timestamptz not null,
  primary key (org_id, project, path, author_email)
);

-- GET /v1/team/expertise reads this: the domains of projects. A domain is a top-level directory, '.' the files beside
-- them.
create table expertise_domains (
  org_id text not null,
  project text not null,
  directory text collate "C" not null,
  files integer not null,
  bus_factor integer not null,
  primary_email text collate "C",
  primary key (org_id, project, directory)
);

-- GET /v1/team/expertise reads this: the authors of each domain.
create table expertise_authors (
  org_id text not null,
  project text not null,
  directory text collate "C" not null,
  author_email text collate "C" not null,
  -- commits that changed a file of the domain, deleted files included
  commits integer not null,
  -- null for an author of deleted files only
  score numeric(5, 2),
  files_owned integer not null default 0,
  ownership_percent numeric(5, 2) not null default 0,
  last_at timestamptz,
  primary key (org_id, project, directory, author_email)
);

-- Without statistics of org_id the planner expects 0.5 % of a table for every organization. With them it expects one row
-- of an organization that ANALYZE has not seen, and joins all of its rows by org_id alone, each with each: 20,000 commits
-- of a new organization beside an old one took longer than any time-out (test/flat/new-organization.test.ts).
alter table commits alter column org_id set statistics 0;
alter table commit_files alter column org_id set statistics 0;
alter table files alter column org_id set statistics 0;
alter table file_authors alter column org_id set statistics 0;
alter table expertise_domains alter column org_id set statistics 0;
alter table expertise_authors alter column org_id set statistics 0;

-- Commits and their lines per day and month (UTC), by project, author, agent and some of their pairs: GET /v1/outcomes. `facts`:
-- the number of commits, or of a commit's agents.
create table commit_rollups (
  org_id text not null,
  dims text not null,
  grain text not null check (grain in ('day', 'month')),
  bucket date not null,
  project text not null,
  member text collate "C" not null,
  agent text not null,
  facts bigint not null,
  commits numeric not null,
  effective_lines numeric not null,
  ai_lines numeric not null,
  survival_14 numeric not null,
  of_14 numeric not null,
  survival_30 numeric not null,
  of_30 numeric not null,
  primary key (org_id, dims, grain, bucket, project, member, agent)
) with (fillfactor = 70);

-- The agents' share of a commit, and how much of it is left. It is kept apart from the commit's content, since
-- several laptops prove it.
create table commit_ai (
  org_id text not null,
  project text not null,
  sha text collate "C" not null,
  -- null where only what is left was sent
  lines bigint,
  effective_lines bigint,
  -- lines by agent
  by_agent json,
  provenance text check (provenance in ('none', 'trailer', 'transcript', 'note')),
  sessions text[],
  -- the number of the lines that were there 14 and 30 days later; null: not sent
  survival_14 bigint,
  survival_30 bigint,
  -- whether the default branch had it at the last sync; null: not sent, the commit counts
  on_default_branch boolean,
  primary key (org_id, project, sha)
);
