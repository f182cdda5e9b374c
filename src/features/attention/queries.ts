// Reads what needs a caller's attention: alerts, budgets, findings, endpoints, machines, backups, prices and others.

import { grants } from '../../accounts/keys/rights.ts'
import { listOrganizations } from '../../accounts/organizations/queries.ts'
import type { Access } from '../../accounts/people/callers.ts'
import type { VisibleMember } from '../../accounts/people/visibility-queries.ts'
import { addDays, dayOf } from '../../base/dates.ts'
import type { Config } from '../../config.ts'
import { backupFolderOf, findFailure, listBackups } from '../../database/backup/folder.ts'
import type { Sql } from '../../database/client.ts'
import type { Viewer } from '../../http/whole-list.ts'
import { listEndpoints } from '../../webhooks/endpoint-queries.ts'
import type { Clock } from '../alerts/evaluate.ts'
import { findNames } from '../alerts/figure-queries.ts'
import type { Alert } from '../alerts/model.ts'
import { ALERTS } from '../alerts/rule-kinds.ts'
import { listRules } from '../alerts/rule-queries.ts'
import type { UsedBudget } from '../budgets/model.ts'
import { findExceeded, findMyBudgets } from '../budgets/queries.ts'
import type { Breakdown } from '../cost/breakdown-model.ts'
import { breakdownList } from '../cost/breakdown-queries.ts'
import { listSilent } from '../members/machine-queries.ts'
import { findMySeats } from '../seats/plan-queries.ts'
import { findCritical } from '../security/finding-queries.ts'
import { findMovedAt } from '../usage/walk.ts'
import type { Attention } from './model.ts'

/** A machine is silent after these days, and after more it is not expected to come back. */
const SILENT = { silentDays: 3, goneDays: 30 }
/** Days in which models without a price are looked for. */
const UNPRICED_DAYS = 30

/** Reads what needs attention, as far as the caller may see it; what they may not is empty or null. */
export async function getAttention(
  sql: Sql,
  access: Access,
  viewer: Viewer,
  { config, ...clock }: Clock & { config: Config },
): Promise<Attention> {
  const { orgId, scopes } = access
  const { onlyMember, hidesMembers } = viewer
  const today = dayOf(clock.now, clock.zone)
  const mayReadTeam = grants(scopes, 'team:read') && !hidesMembers
  const endpoints = scopes.includes('webhooks') ? await listEndpoints(sql, orgId) : []
  return {
    alerts: hidesMembers ? [] : await listFiring(sql, orgId, onlyMember, clock),
    ...(await shownBudgets(sql, access, viewer, today)),
    windows: (await findMySeats(sql, access, today, clock.now)).windows,
    critical: grants(scopes, 'security:read')
      ? await findCritical(sql, orgId, viewer)
      : { total: 0, oldest: [] },
    unpriced: await listUnpriced(sql, orgId, onlyMember, today),
    silent_machines: mayReadTeam ? await listSilent(sql, orgId, onlyMember, clock.now, SILENT) : [],
    backup: scopes.includes('admin') ? await findBackup(sql, config, clock.now) : null,
    endpoints: endpoints.filter(({ health }) => health.consecutive_failures > 0),
    days_moved_at: (await findMovedAt(sql, orgId))?.toISOString() ?? null,
  }
}

/** The alerts that fire for the caller, or miss data. */
async function listFiring(sql: Sql, orgId: string, onlyMember: VisibleMember | null, clock: Clock) {
  const alerts: Alert[] = []
  for (const stored of await listRules(sql, orgId, 'alert')) {
    const rule = await ALERTS.visibleTo(sql, orgId, stored, onlyMember, clock)
    if (rule !== undefined) alerts.push(ALERTS.show(rule) as Alert)
  }
  return alerts.filter(({ state, enabled }) => enabled && state !== 'ok')
}

/** A backup of this many times the seconds between two of them is too old; one a day is usual. */
const [PERIODS, USUAL_S] = [2, 86_400]

/** Says what is wrong with the server's backups; null for nothing. A database of its own operator is backed up by that one. */
async function findBackup(sql: Sql, config: Config, at: Date): Promise<Attention['backup']> {
  if (config.databaseUrl !== null && config.backupEveryS === null) return null
  if ((await listOrganizations(sql)).length !== 1) return null
  const last = listBackups(backupFolderOf(config)).at(-1)?.at
  const failed = findFailure(config.dataDir)
  const oldMs = PERIODS * 1_000 * (config.backupEveryS ?? USUAL_S)
  if (failed === undefined && last !== undefined && at.getTime() - last.getTime() <= oldMs) return null
  return { last_at: last?.toISOString() ?? null, failed_at: failed?.at ?? null }
}

const scopeOf = ({ scope }: UsedBudget): string => JSON.stringify(scope)

/** The caller's budgets, and the exceeded ones that they may see, theirs included. */
async function shownBudgets(sql: Sql, access: Access, viewer: Viewer, today: string) {
  const { budgets } = await findMyBudgets(sql, access, undefined, today)
  const exceeded = await findExceeded(sql, access.orgId, viewer, today)
  const scopes = new Set(exceeded.map(scopeOf))
  const others = budgets.filter(
    (one) => one.status === 'exceeded' && Object.keys(one.scope).length > 0 && !scopes.has(scopeOf(one)),
  )
  const members = [...budgets, ...exceeded].map(({ scope }) => scope.member ?? null)
  const names = await findNames(sql, access.orgId, members)
  const label = (budget: UsedBudget) => {
    const { project, member = '', team } = budget.scope
    return { ...budget, name: project ?? team ?? names.get(member) ?? member }
  }
  return { budgets: [...exceeded, ...others].map(label), mine: budgets.map(label) }
}

/** The models without a known price of the last days, those with most tokens first. */
async function listUnpriced(sql: Sql, orgId: string, onlyMember: VisibleMember | null, to: string) {
  const query = { by: 'model', sort: 'unpriced_tokens', order: 'desc', page: 1, per_page: 20 } as const
  const days = { date_from: addDays(to, -UNPRICED_DAYS), date_to: to }
  const { text } = await breakdownList.list.page(sql, orgId, { ...query, ...days }, { onlyMember })
  const { data } = JSON.parse(text) as Breakdown
  return data.flatMap(({ key, unpriced_tokens: tokens }) => (tokens > 0 ? [{ model: key, tokens }] : []))
}
