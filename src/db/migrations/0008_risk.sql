-- Risk scores of pull requests.
create table pr_risks (
  org_id text not null,
  repo text not null,
  pr_number integer not null,
  -- compared byte by byte, so that every server orders scores of one instant alike
  id text collate "C" not null,
  pr_title text not null,
  files_changed integer not null,
  created_at timestamptz not null,
  impact_score numeric(5, 2) not null,
  regression_score numeric(5, 2) not null,
  security_score numeric(5, 2) not null,
  coupling_score numeric(5, 2) not null,
  risk_score smallint not null check (risk_score between 0 and 100),
  rating text not null generated always as (
    case
      when risk_score <= 30 then 'low'
      when risk_score <= 60 then 'medium'
      when risk_score <= 80 then 'high'
      else 'critical'
    end
  ) stored,
  -- json, not jsonb: returned as written
  contributions json not null,
  -- SHA-256 of the record that the parts were computed from; null: the record contained the parts
  input_hash bytea,
  primary key (org_id, repo, pr_number),
  unique (org_id, id)
);
create index pr_risks_by_time on pr_risks (org_id, created_at, id);
create index pr_risks_by_repo on pr_risks (org_id, repo, created_at, id);
create index pr_risks_by_rating on pr_risks (org_id, rating, created_at, id);
create index pr_risks_by_repo_rating on pr_risks (org_id, repo, rating, created_at, id);

-- Scores per UTC day; '' stands for all repositories or all ratings, so that each score is counted in four rows. A
-- list's total, and the day that a page begins on, are read from one row per day.
create table risk_rollups (
  org_id text not null,
  repo text not null,
  rating text not null,
  bucket date not null,
  prs bigint not null,
  primary key (org_id, repo, rating, bucket)
) with (fillfactor = 70);
