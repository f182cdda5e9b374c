-- Plans that an organization pays by the month, and the windows of their limits as agents' files state them.

create table plans (
  org_id text not null,
  id text not null,
  vendor text not null,
  plan text not null,
  -- a member's id; '': seats of everybody without a plan of the vendor
  member text not null,
  quantity integer not null,
  first_day date not null,
  last_day date,
  -- the price of one seat, in the currency
  price_month numeric(24, 12) not null,
  currency text not null,
  -- null: US dollars
  usd_rate numeric(24, 12),
  included_credits numeric(24, 12),
  primary key (org_id, id),
  unique (org_id, vendor, plan, member, first_day)
);

create table limit_windows (
  org_id text not null,
  -- the account where it is known, else the address of the one who sent it; '': nobody
  owner text not null,
  vendor text not null,
  limit_name text not null,
  scope text not null,
  -- whether `starts` and `ends` are times at which the window resets, else those of what was observed
  resets boolean not null,
  starts timestamptz not null,
  ends timestamptz not null,
  account text,
  member text not null,
  agent text not null,
  plan text,
  first_at timestamptz not null,
  last_at timestamptz not null,
  -- in percent: at the last time, and the highest
  last_percent numeric(10, 6) not null,
  peak_percent numeric(10, 6) not null,
  hit_at timestamptz,
  overage boolean not null,
  -- the member's first call of the vendor after the hit that succeeded, where it was before the window's end
  resumed_at timestamptz,
  primary key (org_id, owner, vendor, limit_name, scope, resets, starts)
);
create index limit_windows_by_member on limit_windows (org_id, member, vendor) where hit_at is not null;
create index limit_windows_by_time on limit_windows (org_id, last_at);
