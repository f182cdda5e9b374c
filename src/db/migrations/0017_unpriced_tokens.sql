-- Tokens of all four kinds whose price is not known: they add nothing to the cost.
alter table sessions add column unpriced_tokens bigint not null default 0;
alter table session_rollups add column unpriced_tokens bigint not null default 0;

-- few sessions: those that reprice and doctor look at
create index sessions_unpriced on sessions (org_id, id) where unpriced_tokens > 0;
