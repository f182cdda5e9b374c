-- Teams of members, and budgets of projects, members and teams beside those of the organization.

-- null: the member is in no team
alter table members add column team text;
-- decides whether a laptop warns beyond a budget, or refuses prompts
alter table organizations add column budget_action text not null default 'warn';
alter table organizations add constraint organizations_budget_action_check check (budget_action in ('warn', 'block'));

-- The key is a project's name, a member's id or a team; '' of the organization's own budgets.
alter table budgets add column scope text not null default 'organization';
alter table budgets add column scope_key text not null default '';
alter table budgets add constraint budgets_scope_check check (
  scope in ('organization', 'project', 'member', 'team') and (scope = 'organization') = (scope_key = '')
);
alter table budgets drop constraint budgets_pkey;
alter table budgets add constraint budgets_pkey primary key (org_id, scope, scope_key, month);

alter table budget_alerts add column scope text not null default 'organization';
alter table budget_alerts add column scope_key text not null default '';
alter table budget_alerts drop constraint budget_alerts_pkey;
alter table budget_alerts add constraint budget_alerts_pkey primary key (org_id, scope, scope_key, month);
