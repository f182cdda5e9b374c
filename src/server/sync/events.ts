// Builds the events of a sync request from the results of its writers.

import { changedIds, type WriteResult } from '../../analysis/records/changes.ts'
import { isAlert } from '../../analysis/records/finding.ts'
import { dayOf, monthOf } from '../../base/dates.ts'
import { SCORE_DECIMALS, unitsOf, unscaled } from '../../base/decimals.ts'
import type { ReportsWritten } from '../../features/audit/write-reports.ts'
import { type BudgetExceeded, budgetEvents, type ChangedMonth } from '../../features/budgets/alert-write.ts'
import { scopeOf } from '../../features/budgets/scope-queries.ts'
import type { BudgetsWritten } from '../../features/budgets/write.ts'
import type { MembersWritten } from '../../features/members/write.ts'
import { NO_PROJECT } from '../../features/sessions/prepare.ts'
import type { SessionsWritten, WrittenSession } from '../../features/sessions/writing/write.ts'
import { timesOf } from '../../features/usage/write.ts'
import type { EventData, EventName } from '../../webhooks/outbox/catalogue.ts'
import type { NewEvent } from '../../webhooks/outbox/events.ts'

type Alert = EventData['security.alert']

/** The results of the writers, of those kinds that the batch has. */
export interface Results {
  [kind: string]: WriteResult | undefined
  member?: MembersWritten | undefined
  budget?: BudgetsWritten | undefined
  session: SessionsWritten
  report?: ReportsWritten | undefined
}

const event = <Name extends EventName>(name: Name, data: EventData[Name]) => ({ event: name, data })

/** The request's events: members, sessions (completed, then scores, then alerts), budgets, reports. */
export function buildEvents(
  { member, session: { changed }, report }: Results,
  exceeded: readonly BudgetExceeded[],
): NewEvent[] {
  return [
    ...(member?.joined ?? []).map(({ id, email, role }) =>
      event('team.member_joined', { user_id: id, email, role }),
    ),
    ...changed.flatMap(completed),
    ...changed.flatMap(scoreChanged),
    ...changed.flatMap(alerts),
    ...budgetEvents(exceeded),
    ...(report?.generated ?? []).map(({ id, report_type, from, to }) =>
      event('compliance.report_ready', { report_id: id, report_type, date_range: { from, to } }),
    ),
  ]
}

/** Scopes and their months whose cost may now be above the budget. */
export function changedMonths({ budget, member, session }: Results, now: Date, zone: string): ChangedMonth[] {
  const month = monthOf(dayOf(now, zone))
  const scopes = [...changedIds(member).map((id) => scopeOf({ member: id })), ...(budget?.scopes ?? [])]
  return [
    ...monthsOf(session.changed, zone),
    ...scopes.map(({ scope, scope_key }) => ({ month, scope, scope_key })),
  ]
}

/** The months that something of sessions happened in, each once for each scope that they count for. */
function monthsOf(sessions: readonly Pick<WrittenSession, 'session'>[], zone: string): ChangedMonth[] {
  const months = new Map<string, ChangedMonth>()
  const add = (month: string, scope: ChangedMonth['scope'], scope_key: string) => {
    const key = `${month}${scope}\0${scope_key}`
    if (!months.has(key)) months.set(key, { month, scope, scope_key })
  }
  for (const { session } of sessions) {
    const member = session.user_id ?? session.user_email
    for (const month of new Set(timesOf(session).map((time) => monthOf(dayOf(time, zone))))) {
      add(month, 'organization', '')
      if (session.project !== NO_PROJECT) add(month, 'project', session.project)
      if (member !== null) add(month, 'member', member)
    }
  }
  return [...months.values()]
}

const score = (hundredths: bigint): number => unscaled(hundredths, SCORE_DECIMALS)

function completed({ session, before }: WrittenSession): NewEvent[] {
  if (before !== undefined) return []
  const project_name = session.project === NO_PROJECT ? null : session.project
  const data = { session_id: session.id, project_name, quality_score: score(session.quality) }
  return [event('session.completed', data)]
}

function scoreChanged({ session, before }: WrittenSession): NewEvent[] {
  const old = before && unitsOf(before.quality)
  if (old === undefined || old === session.quality) return []
  const data = { session_id: session.id, old_score: score(old), new_score: score(session.quality) }
  return [event('quality.score_changed', data)]
}

/** One alert for each fingerprint, of its most severe finding, unless the session had one before. */
function alerts({ session, before }: WrittenSession): NewEvent[] {
  const mostSevere = new Map<string, Alert>()
  const alerted = new Set(before?.alerts)
  for (const { id, severity, title, fingerprint } of session.detail.security_metadata.findings) {
    if (!isAlert(severity) || alerted.has(fingerprint)) continue
    const finding = mostSevere.get(fingerprint)
    if (finding === undefined || (finding.severity === 'high' && severity === 'critical'))
      mostSevere.set(fingerprint, { alert_id: id, severity, title })
  }
  return [...mostSevere.values()].map((data) => event('security.alert', data))
}
