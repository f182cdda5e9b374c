-- Notes of days. `project` and `team` are those that it concerns; without either it is of the organization.
create table notes (
  org_id text not null,
  id text not null,
  day date not null,
  text text not null,
  project text,
  team text,
  primary key (org_id, id)
);
