-- What ANALYZE knows of org_id makes the planner expect one row of an organization that it does not know, and then join
-- all rows of that organization by org_id alone, each with each: 20,000 commits of a new organization beside an old one
-- took longer than any time-out (test/flat/new-organization.test.ts). Without them it expects 0.5 % of a table for every
-- organization.

do $$
declare
  name text;
begin
  foreach name in array array[
    'commits', 'commit_files', 'files', 'file_authors', 'expertise_domains', 'expertise_authors',
    'findings', 'finding_rollups', 'file_rollups', 'file_risks'
  ] loop
    execute format('alter table %I alter column org_id set statistics 0', name);
    -- ANALYZE keeps what it knew before; older servers have no function that removes it
    if current_setting('server_version_num')::integer >= 180000 then
      execute format('select pg_clear_attribute_stats(current_schema()::text, %L, %L, false)', name, 'org_id');
    end if;
  end loop;
end $$;
