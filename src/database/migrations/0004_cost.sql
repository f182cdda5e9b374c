-- Monthly limits: each is in force from its month until the month of the next one.
create table budgets (
  org_id text not null,
  -- its first day
  month date not null check (extract(day from month) = 1),
  limit_usd numeric(16, 6) not null check (limit_usd > 0),
  primary key (org_id, month)
);

-- Months whose cost has exceeded the limit: each emits one event.
create table budget_alerts (
  org_id text not null,
  month date not null,
  primary key (org_id, month)
);
