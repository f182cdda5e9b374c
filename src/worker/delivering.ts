import type { Sql } from '../db/client.ts'
import type { ReconnectingPool } from '../db/reconnecting-pool.ts'
import type { Log } from '../log.ts'
import { makeAttempt } from '../webhooks/attempt.ts'
import { createEgress } from '../webhooks/http/egress.ts'
import { ownAddresses, resolveByDns } from '../webhooks/http/resolve.ts'
import { createSender } from '../webhooks/http/sender.ts'
import { CHANNEL, claim, findDueOrganizations, leaseMsOf, release } from '../webhooks/outbox/queue.ts'
import { settle } from '../webhooks/outbox/settle.ts'
import { createSecretBox, openingOnce } from '../webhooks/signing/secret-box.ts'
import { listen } from './listen.ts'
import { startLoop } from './loop.ts'
import type { WorkerSettings } from './messages.ts'

// The loop's parts put together: on the database, on the network, with the settings.

export interface DeliveringDeps {
  pool: ReconnectingPool
  /** Opens a client that only listens. */
  openListener: () => Sql
  settings: WorkerSettings
  secretKey: Uint8Array
  log: Log
}

export interface Delivering {
  /** Claims nothing more; resolves when all attempts in flight are settled. */
  drain(): Promise<void>
}

/** Delivers what is due until `drain`. */
export function startDelivering({
  pool,
  openListener,
  settings,
  secretKey,
  log,
}: DeliveringDeps): Delivering {
  const egress = createEgress({
    allowCidrs: settings.webhookAllowCidrs,
    allowHttp: settings.webhookAllowHttp,
    ownAddresses: ownAddresses(),
  })
  const sender = createSender({ egress, resolve: resolveByDns, timeoutMs: settings.webhookTimeoutMs })
  const box = openingOnce(createSecretBox(secretKey))
  const attemptDeps = { box, sender, prefix: settings.webhookHeaderPrefix }
  const loop = startLoop({
    findDueOrganizations: () => pool.run(findDueOrganizations),
    claim: (orgId, limits, marks) => pool.run((sql) => claim(sql, orgId, limits, marks)),
    attempt: (orgId, delivery) => makeAttempt(attemptDeps, orgId, delivery),
    settle: (orgId, outcomes) =>
      pool.run((sql) => settle(sql, orgId, outcomes, settings.webhookRetryDelaysS)),
    release: (orgId, attempts, delayMs) => pool.run((sql) => release(sql, orgId, attempts, delayMs)),
    concurrency: settings.webhookConcurrency,
    endpointConcurrency: settings.webhookEndpointConcurrency,
    leaseMs: leaseMsOf(settings.webhookTimeoutMs),
    log,
  })
  const listener = listen({
    open: openListener,
    notify: (channel, payload) => pool.run(async (sql) => void (await sql.notify(channel, payload))),
    channel: CHANNEL,
    onNotify: loop.wake,
    log,
  })
  return {
    async drain() {
      await Promise.all([listener.close(), loop.drain()])
      sender.close()
    },
  }
}
