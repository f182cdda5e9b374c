-- Who may see an organization's badges, and how they look. In organizations, which every node knows, since a badge
-- is asked for by slug.

alter table organizations
  add column badges_public boolean not null default false,
  -- SHA-256 of the token that shows private badges; null: there is none
  add column badge_token_hash bytea,
  -- what differs from the defaults: { labels?, thresholds?, colors? } (badges/model.ts)
  add column badge_look json not null default '{}';
