-- The address of the member whose sessions the key sends, in lower case; null: it sends those of anybody.
alter table api_keys add column member_email text;
