-- Whether any row of the session has calls: what it cost says what drove it. Stored sessions get it as they are divided by day.
alter table session_usage add column has_calls boolean not null default false;
