// Reads and changes an organization's settings, with GitHub's secret and the badge token.

import { type Actor, recordEntry, SYSTEM } from '../../accounts/audit-log/append.ts'
import { getOrganization } from '../../accounts/organizations/queries.ts'
import { findPendingRetention, setRetention } from '../../accounts/organizations/retention-queries.ts'
import { TIME_PATTERN } from '../../base/dates.ts'
import { ApiError, fieldError } from '../../base/errors.ts'
import type { Plan } from '../../config.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { inOrganization } from '../../database/org-lock.ts'
import type { SecretBox } from '../../webhooks/signing/secret-box.ts'
import { lockSecretKey } from '../../webhooks/signing/secret-key-queries.ts'
import { githubSecretContext, openOrNothing } from '../../webhooks/stored-secret-queries.ts'
import type { BadgeLook } from '../badges/model.ts'
import { makeBadgeToken } from '../badges/token.ts'
import { DEFAULT_COLORS, DEFAULT_THRESHOLDS } from '../badges/value.ts'
import { letAllWait } from '../usage/ticket-write.ts'
import { DEFAULT_TICKET_IGNORE, DEFAULT_TICKET_PATTERN } from '../usage/tickets.ts'
import type { OrganizationChangeBody, OrganizationSettings } from './model.ts'

type Row = Omit<OrganizationSettings, 'retention_pending' | 'badges' | 'ticket_pattern' | 'ticket_ignore'> & {
  visibility: 'public' | 'private'
  has_token: boolean
  look: BadgeLook
  ticket_pattern: string | null
  ticket_ignore: string[] | null
}

async function findRow(sql: ISql, orgId: string): Promise<Row> {
  const [row] = await sql<Row[]>`
    select o.org_id as id, o.slug, o.name, o.plan, o.hide_members, o.member_visibility, o.retention_sessions_days,
      case when o.badges_public then 'public' else 'private' end as visibility,
      o.badge_token_hash is not null as has_token, o.badge_look as look,
      o.ticket_pattern, o.ticket_ignore, o.budget_action, o.github_secret is not null as github_secret_set, o.time_zone,
      case when o.time_zone_pending is not null then
        json_build_object(
          'time_zone', o.time_zone_pending, 'at', to_char(o.time_zone_asked_at at time zone 'UTC', ${TIME_PATTERN})
        )
      end as time_zone_pending
    from organizations o
    where o.org_id = ${orgId}`
  if (row === undefined) throw new ApiError('UNAUTHORIZED', 'The organization was deleted')
  return row
}

/** The organization with this slug, and the secret of its GitHub webhook; undefined where it has none that the key opens. */
export async function findGithubSecret(sql: ISql, box: SecretBox, slug: string) {
  const [row] = await sql<{ orgId: string; sealed: Uint8Array }[]>`
    select o.org_id as "orgId", o.github_secret as sealed
    from organizations o
    where o.slug = ${slug}
      and o.deleted_at is null
      and o.github_secret is not null`
  const secret = row && openOrNothing(box, row.sealed, githubSecretContext(row.orgId))
  return row && secret !== undefined ? { orgId: row.orgId, secret } : undefined
}

function settingsOf({
  visibility,
  has_token,
  look,
  ticket_pattern,
  ticket_ignore,
  ...row
}: Row): Omit<OrganizationSettings, 'retention_pending'> {
  const [good, medium] = look.thresholds ?? DEFAULT_THRESHOLDS
  const [goodColor, mediumColor, badColor] = look.colors ?? DEFAULT_COLORS
  return {
    ...row,
    badges: {
      visibility,
      token: has_token ? true : null,
      labels: { quality: 'quality', security: 'security', cost: 'cost', ...look.labels },
      colors: { good: goodColor, medium: mediumColor, bad: badColor },
      thresholds: { good, medium },
    },
    ticket_pattern: ticket_pattern ?? DEFAULT_TICKET_PATTERN,
    ticket_ignore: ticket_ignore ?? [...DEFAULT_TICKET_IGNORE],
  }
}

export const getSettings = async (sql: ISql, orgId: string): Promise<OrganizationSettings> => ({
  ...settingsOf(await findRow(sql, orgId)),
  retention_pending: await findPendingRetention(sql, orgId),
})

/** The changes of a request, and those of the command line alone. */
type Change = Omit<OrganizationChangeBody, 'confirm_retention'> & {
  plan?: Plan
  /** A shorter retention that is given here holds at once with 'all'. */
  confirm_retention?: boolean | 'all'
}

/**
 * Changes what is given. Throws VALIDATION_ERROR for thresholds that are not in order. A changed name, plan or visibility
 * holds on every instance within a second. `box` seals GitHub's secret. Needs the organization's lock.
 */
export async function changeSettings(tx: ISql, orgId: string, actor: Actor, change: Change, box?: SecretBox) {
  const [before, row] = [await getSettings(tx, orgId), await findRow(tx, orgId)]
  const { badges, github_secret, ticket_pattern, ticket_ignore } = change
  const look = changedLook(row.look, before, badges)
  const zone = wantedZone(before, change.time_zone)
  const secret = github_secret && box ? await sealedSecret(tx, orgId, github_secret, box) : null
  await tx`
    update organizations
    set name = ${change.name?.trim() ?? before.name},
      plan = ${change.plan ?? before.plan},
      hide_members = ${change.hide_members ?? before.hide_members},
      member_visibility = ${change.member_visibility ?? before.member_visibility},
      badges_public = ${(badges?.visibility ?? before.badges.visibility) === 'public'},
      badge_token_hash = case when ${badges?.token === null} then null else badge_token_hash end,
      badge_look = ${JSON.stringify(look)}::text::json,
      ticket_pattern = ${ticket_pattern === undefined ? row.ticket_pattern : ticket_pattern},
      ticket_ignore = ${ticket_ignore === undefined ? row.ticket_ignore : ticket_ignore},
      budget_action = ${change.budget_action ?? before.budget_action},
      time_zone_pending = ${zone ?? before.time_zone_pending?.time_zone ?? null},
      time_zone_asked_at = ${zone === undefined ? tx`time_zone_asked_at` : tx`now()`},
      github_secret = case when ${github_secret === undefined} then github_secret else ${secret}::bytea end
    where org_id = ${orgId}`
  const { retention_sessions_days: days, confirm_retention = false } = change
  if (days !== undefined || confirm_retention) await setRetention(tx, orgId, days, confirm_retention)
  if (ticket_pattern !== undefined || ticket_ignore !== undefined) await letAllWait(tx, orgId)
  const after = await getSettings(tx, orgId)
  const { time_zone_pending: _waits, ...changed } = changedFields(before, after)
  if (secret !== null) changed.github_secret_set = true
  if (zone !== undefined) changed.time_zone = zone
  if (Object.keys(changed).length > 0)
    await recordEntry(tx, orgId, actor, 'organization.updated', { ids: [orgId], ...changed })
  return after
}

/** Does the same by the slug, in a transaction of its own. Throws OperatorError for an unknown slug. */
export async function updateOrganization(sql: Sql, slug: string, change: Change, actor: Actor = SYSTEM) {
  const { id } = await getOrganization(sql, slug)
  return await inOrganization(sql, id, (tx) => changeSettings(tx, id, actor, change))
}

async function sealedSecret(tx: ISql, orgId: string, secret: string, box: SecretBox): Promise<Uint8Array> {
  await lockSecretKey(tx, box.digest)
  return box.seal(secret, githubSecretContext(orgId))
}

/** The time zone to change to; undefined where it stays. Throws CONFLICT while another change waits. */
function wantedZone(before: OrganizationSettings, zone: string | undefined): string | undefined {
  const { time_zone, time_zone_pending: pending } = before
  if (zone === undefined) return undefined
  if (pending !== null)
    throw fieldError(
      'time_zone',
      `the change to ${pending.time_zone} is not in force yet; try again then`,
      'CONFLICT',
    )
  return zone === time_zone ? undefined : zone
}

/** The fields of `after` that differ, for the audit log. */
const changedFields = <Fields extends object>(before: Fields, after: Fields): Partial<Fields> =>
  Object.fromEntries(
    Object.entries(after).filter(([field, value]) => !Bun.deepEquals(before[field as keyof Fields], value)),
  ) as Partial<Fields>

function changedLook(
  before: BadgeLook,
  { badges: { colors, thresholds } }: Pick<OrganizationSettings, 'badges'>,
  change: Change['badges'],
): BadgeLook {
  const look: BadgeLook = { ...before }
  for (const [kind, label] of Object.entries(change?.labels ?? {})) {
    const { [kind as keyof typeof look.labels]: _, ...labels } = { ...look.labels } as Record<string, string>
    look.labels = label === null || label.trim() === '' ? labels : { ...labels, [kind]: label.trim() }
  }
  if (change?.colors === null) delete look.colors
  else if (change?.colors !== undefined) {
    const { good, medium, bad } = { ...colors, ...change.colors }
    look.colors = [good, medium, bad]
  }
  if (change?.thresholds === null) delete look.thresholds
  else if (change?.thresholds !== undefined) {
    const { good, medium } = { ...thresholds, ...change.thresholds }
    if (medium >= good) throw fieldError('badges.thresholds.medium', 'must be less than good')
    look.thresholds = [good, medium]
  }
  return look
}

/** Replaces the badge token, and returns the new one. Needs the organization's lock. */
export async function replaceBadgeToken(tx: ISql, orgId: string, actor: Actor): Promise<string> {
  const { token, hash } = makeBadgeToken()
  await tx`
    update organizations
    set badge_token_hash = ${hash}
    where org_id = ${orgId}`
  await recordEntry(tx, orgId, actor, 'organization.updated', {
    ids: [orgId],
    badges: { token: true, new_token: true },
  })
  return token
}
