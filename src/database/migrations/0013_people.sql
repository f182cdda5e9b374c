-- People who sign in, and the settings of an organization. The tables here are found without an org_id, by a hash or an
-- address: a cluster copies them to every node.

alter table organizations
  -- whether a developer sees only their own figures and sessions
  add column member_visibility text not null default 'all' check (member_visibility in ('all', 'own')),
  -- the form of tickets in branches and titles; null: the default (organizations/model.ts)
  add column ticket_pattern text,
  -- texts that match the pattern and are no tickets; null: the default
  add column ticket_ignore text[],
  -- the secret of GitHub's webhook, encrypted (webhooks/signing/secret-box.ts)
  add column github_secret bytea;

-- the member or key that made it, as the audit log names them; null: the command line
alter table api_keys add column created_by text;

-- Members who have a way to sign in. A password belongs to one membership, so that no other organization can replace it.
create table accounts (
  org_id text not null,
  member_id text not null,
  -- the member's own address, in lower case
  email text not null,
  -- argon2id; null: the person signs in by the identity provider
  password_hash text,
  last_signed_in_at timestamptz,
  primary key (org_id, member_id)
);
create index accounts_by_email on accounts (email);

-- One invitation of a member at most: a new one replaces the old one.
create table invitations (
  org_id text not null,
  member_id text not null,
  -- SHA-256 of the token
  token_hash bytea not null,
  expires_at timestamptz not null,
  primary key (org_id, member_id)
);
create index invitations_by_token on invitations (token_hash);

create table browser_sessions (
  -- SHA-256 of the cookie
  token_hash bytea primary key,
  org_id text not null,
  member_id text not null,
  created_at timestamptz not null,
  -- written at most once a minute
  last_used_at timestamptz not null
);
create index browser_sessions_by_member on browser_sessions (org_id, member_id);

-- Machines that wait for a person's approval (RFC 8628).
create table device_requests (
  -- SHA-256 of the device code
  device_hash bytea primary key,
  user_code text not null unique,
  -- the name of the machine
  name text not null,
  expires_at timestamptz not null,
  -- time when the machine last asked; null: not yet
  asked_at timestamptz,
  -- seconds that the machine waits between two questions
  interval_s integer not null,
  -- null until a person has answered
  approved boolean,
  -- the organization and the member who approved; null before
  org_id text,
  member_id text
);
create index device_requests_by_member on device_requests (org_id, member_id);

-- Tries to sign in during one minute, by address and by account. Unlogged: a crash empties it.
create unlogged table sign_in_tries (
  -- SHA-256 of what the tries are counted for
  subject bytea not null,
  -- minutes since 1970
  minute bigint not null,
  tries integer not null,
  primary key (subject, minute)
);
