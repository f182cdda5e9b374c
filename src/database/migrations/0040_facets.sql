-- Rows of usage divided by what agents write on calls, and by tier, vendor and payer: a row for each combination of values, which
-- add up to the row of usage. A session in whose calls nothing differs from what is usual has none.
create table session_facets (
  org_id text not null,
  session_id text not null,
  -- the row of usage, and the place in it
  nth integer not null,
  part integer not null,
  -- '' for none
  version text not null,
  effort text not null,
  skill text not null,
  subagent text not null,
  mcp_server text not null,
  plugin text not null,
  tier text not null,
  vendor text not null,
  paid_by text not null,
  -- bits of these, in their order, and one for all: the part counts the session under its value
  firsts smallint not null,
  -- the same among the parts of one model
  model_firsts smallint not null,
  day_turns integer not null,
  main_turns integer not null,
  calls integer not null,
  prompts integer not null,
  input bigint not null,
  output bigint not null,
  cache_read bigint not null,
  cache_creation bigint not null,
  cache_creation_1h bigint not null,
  unpriced_tokens bigint not null,
  -- micro-dollars
  cost_input bigint not null,
  cost_output bigint not null,
  cost_cache_read bigint not null,
  cost_cache_write_5m bigint not null,
  cost_cache_write_1h bigint not null,
  cost_other bigint not null,
  primary key (org_id, session_id, nth, part)
);

-- Their sums by the values of each facet. `main_sessions` counts each session once.
create table facet_rollups (
  org_id text not null,
  facet text not null,
  grain text not null check (grain in ('day', 'month')),
  bucket date not null,
  agent text not null,
  value text not null,
  sessions bigint not null,
  main_sessions bigint not null,
  turns bigint not null,
  cost_input bigint not null,
  cost_output bigint not null,
  cost_cache_read bigint not null,
  cost_cache_write_5m bigint not null,
  cost_cache_write_1h bigint not null,
  cost_other bigint not null,
  input bigint not null,
  output bigint not null,
  cache_read bigint not null,
  cache_creation bigint not null,
  unpriced_tokens bigint not null,
  primary key (org_id, facet, grain, bucket, agent, value)
);
