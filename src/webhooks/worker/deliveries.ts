// Connects the delivery loop with the database, the network and the settings.

import type { Log } from '../../base/log.ts'
import type { Config } from '../../config.ts'
import type { Sql } from '../../database/client.ts'
import type { ReconnectingPool } from '../../database/pools/reconnecting-pool.ts'
import { makeAttempt } from '../attempt.ts'
import { type AttemptOutcome, outcomeOf } from '../http/attempt-result.ts'
import { createEgress } from '../http/egress.ts'
import { ownAddresses, resolveByDns } from '../http/resolve.ts'
import { createSender } from '../http/sender.ts'
import { claim, findDueOrganizations, leaseMsOf } from '../outbox/claim.ts'
import { CHANNEL } from '../outbox/events.ts'
import { release, settle } from '../outbox/settle.ts'
import { createSecretBox, memoizedOpen } from '../signing/secret-box.ts'
import { startListener } from './listener.ts'
import { startLoop } from './loop.ts'

interface DeliveriesDeps {
  pool: ReconnectingPool
  openListener: () => Sql
  settings: Config
  secretKey: Uint8Array
  /** Called with how each attempt ended. */
  onAttempt: (outcome: AttemptOutcome) => void
  log: Log
}

/** Delivers until `drain`. */
export function startDeliveries({ pool, openListener, settings, secretKey, onAttempt, log }: DeliveriesDeps) {
  const egress = createEgress({
    allowCidrs: settings.webhookAllowCidrs,
    allowHttp: settings.webhookAllowHttp,
    ownAddresses: ownAddresses(),
  })
  const sender = createSender({ egress, resolve: resolveByDns, timeoutMs: settings.webhookTimeoutMs })
  const box = memoizedOpen(createSecretBox(secretKey))
  const attemptDeps = { box, sender, prefix: settings.webhookHeaderPrefix }
  const loop = startLoop({
    findDueOrganizations: () => pool.run(findDueOrganizations),
    claim: (orgId, limits, cursors) => pool.run((sql) => claim(sql, orgId, limits, cursors)),
    async attempt(orgId, delivery) {
      const result = await makeAttempt(attemptDeps, orgId, delivery)
      onAttempt(outcomeOf(result))
      return result
    },
    settle: (orgId, outcomes) =>
      pool.run((sql) => settle(sql, orgId, outcomes, settings.webhookRetryDelaysS, log)),
    release: (orgId, outcome, delayMs) => pool.run((sql) => release(sql, orgId, outcome, delayMs)),
    concurrency: settings.webhookConcurrency,
    endpointConcurrency: settings.webhookEndpointConcurrency,
    leaseMs: leaseMsOf(settings.webhookTimeoutMs),
    log,
  })
  const listener = startListener({
    open: openListener,
    notify: (channel, payload) => pool.run(async (sql) => void (await sql.notify(channel, payload))),
    channel: CHANNEL,
    onNotify: loop.wake,
    log,
  })
  return {
    /** Claims nothing more; resolves when all attempts in flight are settled. */
    async drain() {
      await Promise.all([listener.close(), loop.drain()])
      sender.close()
    },
  }
}
