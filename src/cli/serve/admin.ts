import { measureProcess } from '../../base/metrics/process.ts'
import type { Registry } from '../../base/metrics/registry.ts'
import { backupFolderOf } from '../../database/backup/folder.ts'
import type { OpenDatabase } from '../../database/open.ts'
import { createReconnectingPool } from '../../database/pools/reconnecting-pool.ts'
import { listen } from '../../http/listen.ts'
import { adminFetch } from '../../server/metrics/admin.ts'
import { measureDatabase } from '../../server/metrics/queries.ts'
import type { Context } from '../command/context.ts'
import { measureDisks } from './measure.ts'

/** The statements of a scrape end after this time. */
const STATEMENT_TIMEOUT_MS = 3_000
/** A connection that is silent for longer is lost, and replaced. The time is above the statement's limit. */
const SILENCE_MS = 4_000

/**
 * Listens at ADMIN_HOST and ADMIN_PORT and answers /metrics, which the public port does not; undefined without ADMIN_PORT.
 * The database is read over a connection of its own, so that a scrape takes none from requests nor waits for one. Throws
 * OperatorError when the port is in use.
 */
export function startAdmin(
  { config, log }: Pick<Context, 'config' | 'log'>,
  { registry, database }: { registry: Registry; database: Pick<OpenDatabase, 'target'> },
) {
  if (config.adminPort === null) return undefined
  const address = { host: config.adminHost, port: config.adminPort, setting: 'ADMIN_PORT' } as const
  const listening = listen({ fetch: adminFetch(registry, config.adminHost), server: null }, address, log)
  const pool = createReconnectingPool(
    database.target,
    { max: 1, applicationName: 'cloud-analytics metrics', statementTimeoutMs: STATEMENT_TIMEOUT_MS },
    SILENCE_MS,
  )
  measureDatabase(registry, pool)
  measureDisks(registry, {
    ...(config.databaseUrl === null && { data: config.dataDir }),
    ...(config.backupEveryS !== null && { backups: backupFolderOf(config) }),
  })
  const stopProcess = measureProcess(registry)
  return {
    metricsUrl: `${listening.url}/metrics`,
    async stop() {
      await listening.stop()
      stopProcess()
      await pool.end(1)
    },
  }
}
