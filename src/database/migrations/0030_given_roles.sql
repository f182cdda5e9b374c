-- Whether an admin, or the identity provider, gave the role: a sign-in whose provider sends no groups keeps only such a role. Of the
-- members before, those who can sign in or are invited have one.
alter table members add column role_given boolean not null default false;
update members
set role_given = true
where role = 'owner'
  or exists (select from accounts a where a.org_id = members.org_id and a.member_id = members.id)
  or exists (select from invitations i where i.org_id = members.org_id and i.member_id = members.id);
