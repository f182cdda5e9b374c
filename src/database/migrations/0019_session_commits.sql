-- The detail of a session shows what became of its commits, and of them which were reverted.
create index commit_ai_by_session on commit_ai using gin (sessions) with (fastupdate = off);
create index commits_reverts on commits (org_id, project, committed_at) where subject ilike '%revert%';
