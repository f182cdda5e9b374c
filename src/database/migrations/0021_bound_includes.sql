-- Whether a member's key named the sub-agent's session: such a key takes no telemetry of nobody.
alter table session_includes add column is_bound boolean not null default false;
