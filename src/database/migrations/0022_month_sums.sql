-- Sums of months by project and by member alone: breakdowns by these read a row a month, not one for each of its models.
insert into usage_rollups (
  org_id, dims, grain, bucket, project, member, agent, model, branch, sessions, main_sessions, turns, main_turns, cost,
  input, output, cache_read, cache_creation, unpriced_tokens, transcript_tokens, telemetry_tokens, captured_tokens
)
select
  r.org_id, r.dims, 'month', date_trunc('month', r.bucket::timestamp)::date, r.project, r.member, '', '', '',
  sum(r.sessions), sum(r.main_sessions), sum(r.turns), sum(r.main_turns), sum(r.cost), sum(r.input), sum(r.output),
  sum(r.cache_read), sum(r.cache_creation), sum(r.unpriced_tokens), sum(r.transcript_tokens), sum(r.telemetry_tokens),
  sum(r.captured_tokens)
from usage_rollups r
where r.dims in ('project', 'member')
  and r.grain = 'day'
group by r.org_id, r.dims, date_trunc('month', r.bucket::timestamp)::date, r.project, r.member;
