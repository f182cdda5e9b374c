// The commands `org`: create, list, show, update and delete organizations.

import { listKeys } from '../../accounts/keys/queries.ts'
import type { Organization } from '../../accounts/organizations/model.ts'
import {
  checkName,
  createOrganization,
  getOrganization,
  listOrganizations,
} from '../../accounts/organizations/queries.ts'
import { OperatorError } from '../../base/errors.ts'
import { plural } from '../../base/text.ts'
import { PLANS, type Plan } from '../../config.ts'
import { inOrganization } from '../../database/org-lock.ts'
import type { BadgeOptions } from '../../features/badges/settings.ts'
import { listMembers } from '../../features/members/member-queries.ts'
import { commandLineActor } from '../command/actor.ts'
import type { CliCommand } from '../command/cli-command.ts'
import { type Args, type Context, withDatabase } from '../command/context.ts'
import { retention, timeZone } from '../command/option-parsers.ts'
import { printResult } from '../command/output.ts'
import { table } from '../command/table.ts'

const COLUMNS = ['id', 'slug', 'name', 'plan', 'time_zone', 'created_at'] as const

export function addOrg(program: CliCommand): void {
  const org = program.add('org', 'organizations').alias('orgs')
  org
    .add('create', 'make an organization')
    .requiredOption('--slug <slug>', 'its name in commands and badges: a-z, 0-9 and -')
    .requiredOption('--name <name>', 'its name for people')
    .requiredOption('--plan <plan>', PLANS.join(', '))
    .option(
      '--time-zone <zone>',
      'whose days, weeks and months are counted, as Europe/Berlin (UTC)',
      timeZone,
    )
    .examples('org create --slug acme --name "Acme Inc" --plan cloud_team')
    .run(create)
  org.add('list', 'list the organizations').run(list)
  org
    .add('show <slug>', 'show an organization: plan, badges, whether members are hidden, how much it has')
    .examples('org show acme')
    .run(show)
  org
    .add('update <slug>', 'change an organization')
    .option('--name <name>', 'its name for people')
    .choice('--plan <plan>', 'its plan', PLANS)
    .option('--time-zone <zone>', 'whose days, weeks and months are counted, as Europe/Berlin', timeZone)
    .choice('--hide-members <on|off>', 'on: members are shown to API keys with the scope team:read only', [
      'on',
      'off',
    ])
    .choice('--budget-action <action>', 'warn, or block: what the hook on laptops does beyond a budget', [
      'warn',
      'block',
    ])
    .option(
      '--retention-sessions <days>',
      'delete sessions that are older, as 400d; off: keep them for ever',
      retention,
    )
    .option('--yes', 'a shorter retention holds at once, and not from tomorrow on')
    .choice('--badges <who>', 'who sees its badges; private: with the token only', ['public', 'private'])
    .choice('--badge-token <token>', 'new: make one, shown once, and end the one before; none: end it', [
      'new',
      'none',
    ])
    .option('--badge-label-quality <text>', 'label of the quality badge')
    .option('--badge-label-security <text>', 'label of the security badge')
    .option('--badge-label-cost <text>', 'label of the cost badge')
    .option('--badge-thresholds <good,fair>', 'least good and least fair value (80,50)')
    .option('--badge-colors <good,fair,poor>', 'names or hexadecimal (brightgreen,yellow,red)')
    .notes('An empty text sets a label, the thresholds or the colors back.')
    .examples('org update acme --badges public --badge-thresholds 90,70')
    .run(update)
  org
    .add('delete <slug>', 'delete an organization with all that it has; there is no way back but a backup')
    .option('--yes', 'really; without it, only say what would be deleted')
    .examples('org delete acme --yes')
    .run(remove)
}

async function create(
  context: Context,
  { slug, name, plan, timeZone: time_zone }: { slug: string; name: string; plan: string; timeZone?: string },
): Promise<void> {
  const created = await withDatabase(
    context,
    (sql) => createOrganization(sql, { slug, name, plan, time_zone }, commandLineActor()),
    { create: true },
  )
  await printResult(context.json, created, `organization ${created.slug} (${created.id}) on ${created.plan}`)
}

async function list(context: Context): Promise<void> {
  const organizations = [...(await withDatabase(context, listOrganizations))]
  await printResult(context.json, organizations, table(organizations, COLUMNS, 'no organizations'))
}

async function show(context: Context, _options: object, [slug]: Args): Promise<void> {
  const { readBadgeSettings } = await import('../../features/badges/queries.ts')
  const { countSessions } = await import('../../features/sessions/export.ts')
  const shown = await withDatabase(context, async (sql) => {
    const organization = await getOrganization(sql, slug)
    const { id } = organization
    const [badges, sessions, members, keys] = await Promise.all([
      readBadgeSettings(sql, id),
      countSessions(sql, id),
      listMembers(sql, id),
      listKeys(sql, id),
    ])
    return { ...organization, badges, sessions, members: members.length, keys: keys.length }
  })
  const { badges, sessions, members, keys } = shown
  const lines = [
    `organization ${shown.slug} (${shown.id}): ${shown.name}, ${shown.plan}, since ${shown.created_at}`,
    `time zone: ${shown.time_zone}`,
    retentionText(shown),
    `badges: ${badges.visibility}`,
    `members: ${membersShown(shown)}`,
    [plural(sessions, 'session'), plural(members, 'member'), plural(keys, 'key')].join(', '),
  ]
  await printResult(context.json, shown, lines.join('\n'))
}

const membersShown = ({ hide_members }: Pick<Organization, 'hide_members'>): string =>
  hide_members ? 'hidden from API keys without the scope team:read' : 'shown'

interface UpdateOptions extends BadgeOptions {
  name?: string
  plan?: Plan
  timeZone?: string
  hideMembers?: 'on' | 'off'
  retentionSessions?: number | 'off'
  budgetAction?: Organization['budget_action']
  yes?: true
}

async function update(context: Context, options: UpdateOptions, [slug]: Args): Promise<void> {
  const { name, plan, timeZone, hideMembers, retentionSessions, budgetAction, badgeToken, yes } = options
  const { badgeChange } = await import('../../features/badges/settings.ts')
  const { readBadgeSettings } = await import('../../features/badges/queries.ts')
  const { replaceBadgeToken, updateOrganization } = await import('../../features/organization/queries.ts')
  if (yes && retentionSessions === undefined) throw new OperatorError('--yes needs --retention-sessions', 2)
  const badges = badgeChange(options)
  const change = {
    ...(name !== undefined && { name: checkName(name) }),
    ...(plan !== undefined && { plan }),
    ...(timeZone !== undefined && { time_zone: timeZone }),
    ...(hideMembers !== undefined && { hide_members: hideMembers === 'on' }),
    ...(retentionSessions !== undefined && {
      retention_sessions_days: retentionSessions === 'off' ? null : retentionSessions,
    }),
    ...(yes && { confirm_retention: 'all' as const }),
    ...(budgetAction !== undefined && { budget_action: budgetAction }),
    ...(badges !== undefined && { badges }),
  }
  const isNewToken = badgeToken === 'new'
  if (Object.keys(change).length === 0 && !isNewToken)
    throw new OperatorError(
      'nothing to change: give --name, --plan, --time-zone, --hide-members, --budget-action, --retention-sessions, --badges or --badge-…',
      2,
    )
  const actor = commandLineActor()
  const changed = await withDatabase(context, async (sql) => {
    const { id, retention_pending, time_zone_pending } = await updateOrganization(sql, slug, change, actor)
    const token = isNewToken && (await inOrganization(sql, id, (tx) => replaceBadgeToken(tx, id, actor)))
    return {
      ...(await getOrganization(sql, slug)),
      ...{ retention_pending, time_zone_pending },
      ...((badges !== undefined || isNewToken) && { badges: await readBadgeSettings(sql, id) }),
      ...(token && { badge_token: token }),
    }
  })
  const lines = [`organization ${changed.slug}: ${changed.name}, ${changed.plan}`, retentionText(changed)]
  const { retention_pending: pending, time_zone_pending: zone } = changed
  if (pending !== null)
    lines.push(
      `from ${pending.at} on older ones are deleted, ${plural(pending.sessions, 'session')} now: the same with --yes deletes them at once`,
    )
  if (timeZone !== undefined)
    lines.push(
      zone === null
        ? `time zone: ${changed.time_zone}`
        : `time zone: ${zone.time_zone} once a running server has computed all days anew, ${changed.time_zone} until then`,
    )
  if (hideMembers !== undefined) lines.push(`members: ${membersShown(changed)}`)
  if (budgetAction !== undefined) lines.push(`beyond a budget: ${changed.budget_action}`)
  if (changed.badges) lines.push(`badges: ${changed.badges.visibility}`)
  if (changed.badge_token) lines.push(`badge token (shown once): ${changed.badge_token}`)
  await printResult(context.json, changed, lines.join('\n'))
}

const retentionText = ({ retention_sessions_days: days }: Organization): string =>
  days === null ? 'sessions are kept for ever' : `sessions are kept for ${plural(days, 'day')}`

async function remove(context: Context, { yes }: { yes?: true }, [slug]: Args): Promise<void> {
  const { countRows, findAnyOrganization } = await import('../../server/erasure/queries.ts')
  const { deleteOrganization } = await import('../../server/erasure/organization.ts')
  const { tables, ...result } = await withDatabase(context, async (sql) => {
    const id = await findAnyOrganization(sql, slug)
    if (id === undefined) throw new OperatorError(`there is no organization ${JSON.stringify(slug)}`)
    const tables = await countRows(sql, id)
    if (yes !== true) return { id, slug, deleted: false, tables }
    return { id, slug, deleted: true, rows: await deleteOrganization(sql, id), tables: [] }
  })
  const text = yes
    ? `organization ${slug} (${result.id}) is deleted`
    : `organization ${slug} (${result.id}) has\n${table(tables, ['table', 'rows'], 'nothing')}`
  await printResult(context.json, yes ? result : { ...result, tables }, text)
  if (yes !== true)
    throw new OperatorError(`nothing is deleted: org delete ${slug} --yes deletes all of it`, 2)
}
