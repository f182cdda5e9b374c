-- Alerts and digests: rules by which an organization is told of its figures. What a rule sends to Slack or Teams is an event with
-- a delivery, as that of a webhook.

create table notification_rules (
  org_id text not null,
  id text not null,
  kind text not null check (kind in ('alert', 'digest')),
  -- the fields as they were sent; a destination has the id of its endpoint and its address as it is shown
  definition jsonb not null,
  enabled boolean not null,
  created_at timestamptz not null,
  -- the states of an alert by key, '' where it has none (alerts/evaluate.ts)
  states jsonb not null default '{}',
  -- the version of the organization's data that the last look saw, and its time
  version uuid,
  looked_at timestamptz,
  -- an alert is looked at then although the version is the same; a digest is sent then
  due_at timestamptz not null,
  -- null for an alert
  last_sent_at timestamptz,
  primary key (org_id, id)
);

-- The rule whose messages go to this endpoint: its secret is an address of Slack or Teams, its URL that address as it is shown.
-- Null: an endpoint that was registered.
alter table webhook_endpoints add column owner text;
-- The rule that caused the event, and whether it was only a test of the rule.
alter table webhook_events add column source text;
alter table webhook_events add column test boolean not null default false;
create index webhook_events_by_source on webhook_events (org_id, source, id) where source is not null;

-- Endpoints of rules belong to every plan. The rest of the function is as in 0011.
do $$
begin
  execute replace(
    pg_get_functiondef('claim_webhook_deliveries'::regproc),
    'o.plan <> ''cloud_pro''',
    '(o.plan <> ''cloud_pro'' or e.owner is not null)'
  );
end
$$;
