-- Commit history, who knows which file, and what team activity is counted from. Paths, hashes and addresses are compared
-- byte by byte (collate "C"), so that every server orders commits of one second alike.

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
  -- a bot's commit moves and deletes files, but nobody earns anything by it
  bot boolean not null,
  -- SHA-256 of the canonical record: the same commit again changes nothing
  content_hash bytea not null,
  primary key (org_id, project, sha)
);
create index commits_by_author on commits (org_id, author_email, committed_at, sha);

-- One row for each file of a commit. `path` is its name in that commit; `file` is the name it has now, after every rename
-- that followed. Author, time and bot are those of the commit: every count is made from this table alone.
create table commit_files (
  org_id text not null,
  project text not null,
  sha text collate "C" not null,
  path text collate "C" not null,
  file text collate "C" not null,
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
-- a file's history; revisions of the last months are a range of it
create index commit_files_by_file on commit_files (org_id, project, file, committed_at, sha);
-- the next rename of a name after a commit
create index commit_files_renames on commit_files (org_id, project, previous_path, committed_at, sha)
  where status = 'renamed';

-- One row for each name that a file has now, living or deleted. Sums leave bots out, `loc` does not.
create table files (
  org_id text not null,
  project text not null,
  path text collate "C" not null,
  directory text collate "C" not null generated always as (
    case when strpos(path, '/') = 0 then '.' else split_part(path, '/', 1) end
  ) stored,
  -- commits that touched it
  commits integer not null,
  additions bigint not null,
  deletions bigint not null,
  -- lines it has now, as far as the known commits tell: added less deleted
  loc bigint not null,
  -- of the earliest commit that added it; null when none is known, or when that was a bot's
  creator_email text collate "C",
  created_at timestamptz,
  created_sha text collate "C",
  first_at timestamptz not null,
  -- the latest event of all, a bot's too: whether the file lives is what that one says
  last_at timestamptz not null,
  last_sha text collate "C" not null,
  deleted boolean not null,
  primary key (org_id, project, path)
);
create index files_living on files (org_id, project, directory, path) where not deleted and commits > 0;

create table file_authors (
  org_id text not null,
  project text not null,
  path text collate "C" not null,
  author_email text collate "C" not null,
  commits integer not null,
  last_at timestamptz not null,
  primary key (org_id, project, path, author_email)
);

-- What /v1/team/expertise reads. A domain is a project's top-level directory; '.' is the files beside them.
create table expertise_domains (
  org_id text not null,
  project text not null,
  directory text collate "C" not null,
  files integer not null,
  bus_factor integer not null,
  primary_email text collate "C",
  primary key (org_id, project, directory)
);

create table expertise_authors (
  org_id text not null,
  project text not null,
  directory text collate "C" not null,
  author_email text collate "C" not null,
  -- commits that touched the domain, in files that were deleted since too
  commits integer not null,
  -- null for an author of deleted files alone
  score numeric(5, 2),
  files_owned integer not null default 0,
  ownership_percent numeric(5, 2) not null default 0,
  last_at timestamptz,
  primary key (org_id, project, directory, author_email)
);

-- Sessions by UTC hour: the last 168 hours are 167 whole ones and two parts of one.
create table session_hours (
  org_id text not null,
  hour timestamptz not null,
  sessions integer not null,
  primary key (org_id, hour)
);

-- Sessions by whose they are (a member's id, or the address where no id is known) and which domain's files they touched.
create table session_directories (
  org_id text not null,
  user_key text collate "C" not null,
  project text not null,
  directory text collate "C" not null,
  sessions integer not null,
  primary key (org_id, user_key, project, directory)
);

-- Whether a member had a session in a range of time is one step into this.
create index sessions_by_user on sessions (org_id, coalesce(user_id, user_email), created_at);

insert into session_hours (org_id, hour, sessions)
select s.org_id, date_trunc('hour', s.created_at, 'UTC'), count(*)
from sessions s
group by 1, 2;

insert into session_directories (org_id, user_key, project, directory, sessions)
select s.org_id, coalesce(s.user_id, s.user_email), s.project, t.directory, count(*)
from sessions s
join session_details d on d.org_id = s.org_id and d.session_id = s.id
cross join lateral (
  select distinct case when strpos(f.path, '/') = 0 then '.' else split_part(f.path, '/', 1) end as directory
  from json_array_elements_text(d.detail->'files_touched') f (path)
  where not starts_with(f.path, '/')
) t
where coalesce(s.user_id, s.user_email) is not null
group by 1, 2, 3, 4;
