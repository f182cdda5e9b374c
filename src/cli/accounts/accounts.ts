import { recordEntries } from '../../audit/log/append.ts'
import { findReport } from '../../audit/report-queries.ts'
import { updateBadges } from '../../badges/queries.ts'
import { badgeChange } from '../../badges/settings.ts'
import { isDate } from '../../dates.ts'
import type { Sql } from '../../db/client.ts'
import { lockOrganization } from '../../db/org-lock.ts'
import { OperatorError } from '../../errors.ts'
import { newId } from '../../ids.ts'
import { createKey, listKeys, revokeKey } from '../../keys/queries.ts'
import {
  createOrganization,
  getOrganization,
  listOrganizations,
  updateOrganization,
} from '../../organizations/queries.ts'
import { problemOf } from '../../records/check.ts'
import { writeRecords } from '../../sync/write.ts'
import { findMember, listMembers, removeMember } from '../../team/queries.ts'
import { commandLineActor } from '../command/actor.ts'
import { type Context, withDatabase } from '../command/context.ts'
import { answer, table, tell } from '../command/output.ts'
import { syncDepsOf } from '../command/sync-deps.ts'

type Options = Record<string, string | undefined>

const ORG_COLUMNS = ['id', 'slug', 'name', 'plan', 'created_at'] as const
const KEY_COLUMNS = [
  'id',
  'name',
  'scopes',
  'created_at',
  'expires_at',
  'last_used_at',
  'revoked_at',
] as const
const MEMBER_COLUMNS = ['id', 'email', 'display_name', 'role', 'joined_at'] as const

/** commander has seen to it that a required option is there. */
const given = (options: Options, name: string): string => options[name] ?? ''

/** `org create` */
export async function createOrg(context: Context, options: Options): Promise<void> {
  const wanted = { slug: given(options, 'slug'), name: given(options, 'name'), plan: given(options, 'plan') }
  const made = await withDatabase(context, (sql) => createOrganization(sql, wanted, commandLineActor()))
  await answer(context.json, made, `organization ${made.slug} (${made.id}) on ${made.plan}`)
}

/** `org list` */
export async function listOrgs(context: Context): Promise<void> {
  const organizations = [...(await withDatabase(context, listOrganizations))]
  await answer(context.json, organizations, table(organizations, ORG_COLUMNS, 'no organizations'))
}

/** `org update` */
export async function updateOrg(context: Context, options: Options, slug: string): Promise<void> {
  const change = { name: options.name, plan: options.plan }
  const badges = badgeChange(options)
  if (change.name === undefined && change.plan === undefined && badges === undefined) {
    throw new OperatorError('nothing to change: give --name, --plan, --badges or --badge-…', 2)
  }
  const changed = await withDatabase(context, async (sql) => {
    const organization = await updateOrganization(sql, slug, change, commandLineActor())
    if (badges === undefined) return organization
    const settings = await updateBadges(sql, slug, badges.change, commandLineActor())
    const shown = { ...organization, badges: settings }
    return badges.token === undefined ? shown : { ...shown, badge_token: badges.token }
  })
  const lines = [`organization ${changed.slug}: ${changed.name}, ${changed.plan}`]
  if ('badges' in changed) lines.push(`badges: ${changed.badges.visibility}`)
  if ('badge_token' in changed) lines.push(`badge token (shown once): ${changed.badge_token}`)
  await answer(context.json, changed, lines.join('\n'))
}

/** Runs `use` with the id of the organization that --org names. */
function withOrganization<Result>(
  context: Context,
  options: Options,
  use: (sql: Sql, orgId: string) => Promise<Result>,
): Promise<Result> {
  return withDatabase(context, async (sql) =>
    use(sql, (await getOrganization(sql, given(options, 'org'))).id),
  )
}

/** `key create` */
export async function makeKey(context: Context, options: Options): Promise<void> {
  const scopes = given(options, 'scopes')
    .split(',')
    .map((scope) => scope.trim())
    .filter((scope) => scope !== '')
  const wanted = { name: given(options, 'name'), scopes, expires: options.expires }
  const made = await withOrganization(context, options, (sql, orgId) =>
    createKey(sql, orgId, wanted, commandLineActor()),
  )
  // the key alone, for KEY=$(cloud-analytics key create …)
  await answer(context.json, made, made.key)
  if (!context.json) tell(`shown once; id ${made.id}, scopes ${made.scopes.join(',')}`)
}

/** `key list` */
export async function showKeys(context: Context, options: Options): Promise<void> {
  const keys = [...(await withOrganization(context, options, listKeys))]
  await answer(context.json, keys, table(keys, KEY_COLUMNS, 'no keys'))
}

/** `key revoke` */
export async function endKey(context: Context, id: string): Promise<void> {
  const revoked = await withDatabase(context, (sql) => revokeKey(sql, id, commandLineActor()))
  await answer(context.json, revoked, `key ${revoked.id} is revoked since ${revoked.revoked_at}`)
}

/** Refuses a record made of options as wrong usage, naming the option's field. */
function checkUsage(record: unknown): void {
  const problem = problemOf(record, 'record')
  if (problem === undefined) return
  throw new OperatorError(
    `${problem.field.replace('record.', '').replace('display_name', 'name').replace('report_type', 'type')} ${problem.message}`,
    2,
  )
}

/** `member add` */
export async function addMember(context: Context, options: Options): Promise<void> {
  const about = {
    type: 'member',
    email: given(options, 'email'),
    display_name: given(options, 'name'),
    role: given(options, 'role'),
  }
  checkUsage({ ...about, joined_at: new Date().toISOString() })
  const member = await withOrganization(context, options, async (sql, orgId) => {
    const known = await findMember(sql, orgId, about.email)
    const record = { ...about, joined_at: known?.joined_at ?? new Date().toISOString() }
    await writeRecords(syncDepsOf(context, sql), orgId, [record], commandLineActor())
    return await findMember(sql, orgId, about.email)
  })
  await answer(context.json, member, `member ${member?.email} (${member?.id}), ${member?.role}`)
}

/** `member list` */
export async function showMembers(context: Context, options: Options): Promise<void> {
  const members = [...(await withOrganization(context, options, listMembers))]
  await answer(context.json, members, table(members, MEMBER_COLUMNS, 'no members'))
}

/** `member remove` */
export async function dropMember(context: Context, options: Options): Promise<void> {
  const email = given(options, 'email')
  const removed = await withOrganization(context, options, (sql, orgId) =>
    sql.begin(async (tx) => {
      await lockOrganization(tx, orgId)
      const gone = await removeMember(tx, orgId, email)
      const entry = { action: 'member.removed', details: { ids: gone === undefined ? [] : [gone.id] } }
      await recordEntries(tx, orgId, commandLineActor(), gone === undefined ? [] : [entry])
      return gone
    }),
  )
  if (removed === undefined) throw new OperatorError(`there is no member ${JSON.stringify(email)}`)
  await answer(context.json, removed, `member ${removed.email} (${removed.id}) is removed`)
}

/** `budget set` */
export async function setBudget(context: Context, options: Options): Promise<void> {
  const month = options.month ?? new Date().toISOString().slice(0, 7)
  const limitText = given(options, 'limit')
  if (!/^\d+(\.\d+)?$/.test(limitText))
    throw new OperatorError('limit must be an amount of US dollars, as 2500 or 99.50', 2)
  if (!/^\d{4}-\d{2}$/.test(month) || !isDate(`${month}-01`))
    throw new OperatorError('month must be a month, as 2026-11', 2)
  const record = { type: 'budget', month, limit: Number(limitText) }
  checkUsage(record)
  await withOrganization(context, options, (sql, orgId) =>
    writeRecords(syncDepsOf(context, sql), orgId, [record], commandLineActor()),
  )
  const budget = { org: given(options, 'org'), month, limit: record.limit, currency: 'USD' }
  await answer(context.json, budget, `budget of ${budget.org} from ${month} on: ${budget.limit} USD a month`)
}

/** `report generate` */
export async function generateReport(context: Context, options: Options): Promise<void> {
  const record = {
    type: 'report',
    id: newId('report'),
    report_type: given(options, 'type'),
    from: given(options, 'from'),
    to: given(options, 'to'),
  }
  checkUsage(record)
  if (record.from > record.to) throw new OperatorError('from must not be after to', 2)
  const report = await withOrganization(context, options, async (sql, orgId) => {
    await writeRecords(syncDepsOf(context, sql), orgId, [record], commandLineActor())
    return await findReport(sql, orgId, record.id)
  })
  await answer(
    context.json,
    report,
    `report ${report?.id}: ${report?.total} entries from ${record.from} to ${record.to}`,
  )
}
