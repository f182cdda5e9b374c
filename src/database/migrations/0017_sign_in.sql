-- Who signed in at the identity provider: a person is known by these from the first sign-in on, whatever their address is then.
alter table accounts
  -- null: the person has not signed in there
  add column issuer text,
  add column subject text;
create unique index accounts_by_subject on accounts (org_id, issuer, subject);

alter table device_requests
  -- the address from which the machine asked; null: not known
  add column ip_address text,
  add column requested_at timestamptz not null default now(),
  -- the address of who approved
  add column approved_from text;
