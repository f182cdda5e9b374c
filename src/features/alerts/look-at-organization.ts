// Evaluates one organization's due alerts and digests, stores their states and sends notices (look-at-rules.ts calls it).
// Where figures move to other days, it looks a last time before, and stores states after without telling.

import { findZone } from '../../accounts/organizations/zone-queries.ts'
import { dayOf, hourOf } from '../../base/dates.ts'
import type { ISql } from '../../database/client.ts'
import { refuseNewerSchema } from '../../database/newer-schema.ts'
import { isInTime, nextHour } from './digest-model.ts'
import { evaluate } from './evaluate.ts'
import { type At, alertNotice, digestNotice, send } from './notice.ts'
import { claimRules, type Rule, settleRules } from './rule-queries.ts'
import { readValues } from './value-queries.ts'

const isAlert = (rule: Rule): rule is Rule<'alert'> => rule.kind === 'alert'
const isDigest = (rule: Rule): rule is Rule<'digest'> => rule.kind === 'digest'

/** Looks at an organization's rules that are due, and stores what came of it. */
export async function lookAtOrganization(tx: ISql, orgId: string, how: Omit<At, 'zone'>): Promise<void> {
  await refuseNewerSchema(tx)
  const results = []
  const rules = await claimRules(tx, orgId, how.now)
  const at = { ...how, zone: await findZone(tx, orgId) }
  for (const rule of rules) {
    const alert = isAlert(rule)
      ? await lookAtAlert(tx, orgId, rule, at)
      : await lookAtDigest(tx, orgId, rule, at)
    results.push({ ...rule, ...alert })
  }
  if (results.length > 0) await settleRules(tx, orgId, results, at.now)
}

/** Looks a last time before figures move to other days: nobody else looks before the end of the transaction. */
export async function lookAtLast(tx: ISql, orgId: string, how: Omit<At, 'zone'>): Promise<void> {
  await claimRules(tx, orgId, how.now, { all: true })
  await lookAtOrganization(tx, orgId, how)
}

/** Stores states and tells nothing: figures have moved to other days. Needs the organization's lock. */
export async function storeStates(tx: ISql, orgId: string, now: Date, before?: string): Promise<void> {
  const results = []
  const clock = { now, zone: await findZone(tx, orgId) }
  for (const rule of await claimRules(tx, orgId, now, { all: before !== undefined })) {
    if (isAlert(rule)) {
      const values = await readValues(tx, orgId, rule.definition, clock)
      const { states, due } = evaluate(rule.definition, rule.states, { ...values, since: now }, clock)
      results.push({ ...rule, states, due_at: due })
    } else if (isDigest(rule) && before !== undefined) {
      results.push({ ...rule, due_at: hourOf(dayOf(rule.due_at, before), rule.definition.hour, clock.zone) })
    }
  }
  if (results.length > 0) await settleRules(tx, orgId, results, now)
}

async function lookAtAlert(tx: ISql, orgId: string, rule: Rule<'alert'>, at: At): Promise<Partial<Rule>> {
  const values = await readValues(tx, orgId, rule.definition, at)
  const { definition, created_at } = rule
  // a new alert is ok since it was made
  const since = definition.each === null ? created_at : at.now
  const { states, notices, due } = evaluate(definition, rule.states, { ...values, since }, at)
  if (notices.length > 0) await send(tx, orgId, rule, await alertNotice(tx, orgId, rule, notices, at), at.now)
  const { changesAt } = values
  return { states, due_at: changesAt !== undefined && changesAt < due ? changesAt : due }
}

async function lookAtDigest(tx: ISql, orgId: string, rule: Rule, at: At): Promise<Partial<Rule>> {
  if (!isDigest(rule)) return {}
  const due_at = nextHour(rule.definition, at.now, at.zone)
  if (!isInTime(rule.due_at, at.now)) return { due_at }
  // the days before its own one, which may have ended
  const notice = await digestNotice(tx, orgId, rule, { ...at, now: rule.due_at })
  await send(tx, orgId, rule, notice, at.now)
  return { due_at, last_sent_at: at.now }
}
