import { messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { isConnectionError } from '../../database/connection-errors.ts'
import { refuseNewerSchema } from '../../database/newer-schema.ts'
import { isInTime, nextHour } from './digest-model.ts'
import { evaluate } from './evaluate.ts'
import { type At, alertNotice, digestNotice, send } from './notice.ts'
import { claimRules, findDueOrganizations, type Rule, settleRules } from './rule-queries.ts'
import { readValues } from './value-queries.ts'

/** Organizations that are looked at at once: one whose figures take long delays no other. */
export const LANES = 2

interface LookDeps {
  sql: Sql
  /** PUBLIC_URL */
  publicUrl: string | null
  log: Log
}

/**
 * Looks at the alerts and digests that are due: whose organization has changed, or whose time has come. State and messages of an
 * organization's rules are written in one transaction that has these rows locked, so that none is told twice, whoever looks
 * and ends meanwhile. Never rejects: the next call repeats what failed.
 */
export async function lookAtRules({ sql, publicUrl, log }: LookDeps, now: Date): Promise<void> {
  const warn = (message: string, error: unknown, fields: object = {}) =>
    log[isConnectionError(error) ? 'debug' : 'warn'](message, { ...fields, error: messageOf(error) })
  const due = await findDueOrganizations(sql, now).catch((error: unknown) => {
    warn('alerts cannot be looked at; trying again', error)
    return []
  })
  const lookAtNext = async () => {
    for (let orgId = due.pop(); orgId !== undefined; orgId = due.pop()) {
      const id = orgId
      await sql
        .begin((tx) => lookAtOrganization(tx, id, { now, publicUrl }))
        .catch((error: unknown) => warn('alerts failed, they are tried again', error, { org_id: id }))
    }
  }
  await Promise.all(Array.from({ length: LANES }, lookAtNext))
}

const isAlert = (rule: Rule): rule is Rule<'alert'> => rule.kind === 'alert'
const isDigest = (rule: Rule): rule is Rule<'digest'> => rule.kind === 'digest'

async function lookAtOrganization(tx: ISql, orgId: string, at: At): Promise<void> {
  await refuseNewerSchema(tx)
  const seen = []
  for (const rule of await claimRules(tx, orgId, at.now)) {
    const found = isAlert(rule)
      ? await lookAtAlert(tx, orgId, rule, at)
      : await lookAtDigest(tx, orgId, rule, at)
    seen.push({ ...rule, ...found })
  }
  if (seen.length > 0) await settleRules(tx, orgId, seen, at.now)
}

async function lookAtAlert(tx: ISql, orgId: string, rule: Rule<'alert'>, at: At): Promise<Partial<Rule>> {
  const values = await readValues(tx, orgId, rule.definition, at.now)
  const { definition, created_at } = rule
  // a new alert is ok since it was made
  const since = definition.each === null ? created_at : at.now
  const { states, told, due } = evaluate(definition, rule.states, { ...values, since }, at.now)
  if (told.length > 0) await send(tx, orgId, rule, await alertNotice(tx, orgId, rule, told, at), at.now)
  const { changesAt } = values
  return { states, due_at: changesAt !== undefined && changesAt < due ? changesAt : due }
}

async function lookAtDigest(tx: ISql, orgId: string, rule: Rule, at: At): Promise<Partial<Rule>> {
  if (!isDigest(rule)) return {}
  const due_at = nextHour(rule.definition, at.now)
  if (!isInTime(rule.due_at, at.now)) return { due_at }
  // the days before its own one, which may have ended
  const notice = await digestNotice(tx, orgId, rule, { ...at, now: rule.due_at })
  await send(tx, orgId, rule, notice, at.now)
  return { due_at, last_sent_at: at.now }
}
