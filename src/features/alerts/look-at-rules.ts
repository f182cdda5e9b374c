// Looks at the due rules of all organizations, a few organizations at a time, for the worker.

import { messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import type { PriceOverrides } from '../../base/model-prices.ts'
import type { Sql } from '../../database/client.ts'
import { isConnectionError } from '../../database/connection-errors.ts'
import { findOrganizationsToLookAt } from './rule-queries.ts'

/** Organizations that are looked at at once: one whose figures take long delays no other. */
export const LANES = 2

interface LookDeps {
  sql: Sql
  publicUrl: string | null
  modelPrices?: PriceOverrides | undefined
  log: Log
}

/**
 * Looks at the alerts and digests that are due: whose organization has changed, or whose time has come. State and messages of an
 * organization's rules are written in one transaction that has these rows locked, so that none is told twice, whoever looks
 * and ends meanwhile. Never rejects: the next call repeats what failed.
 */
export async function lookAtRules({ sql, publicUrl, modelPrices, log }: LookDeps, now: Date): Promise<void> {
  const warn = (message: string, error: unknown, fields: object = {}) =>
    log[isConnectionError(error) ? 'debug' : 'warn'](message, { ...fields, error: messageOf(error) })
  const due = await findOrganizationsToLookAt(sql, now).catch((error: unknown) => {
    warn('alerts cannot be looked at; trying again', error)
    return []
  })
  if (due.length === 0) return
  // loaded with the first rule: many servers have none
  const { lookAtOrganization } = await import('./look-at-organization.ts')
  const lookAtNext = async () => {
    for (let orgId = due.pop(); orgId !== undefined; orgId = due.pop()) {
      const id = orgId
      await sql
        .begin((tx) => lookAtOrganization(tx, id, { now, publicUrl, modelPrices }))
        .catch((error: unknown) => warn('alerts failed, they are tried again', error, { org_id: id }))
    }
  }
  await Promise.all(Array.from({ length: LANES }, lookAtNext))
}
