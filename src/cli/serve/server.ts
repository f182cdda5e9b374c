// Starts and stops the parts of a server: database, pools, threads, listeners.

import { randomUUID } from 'node:crypto'
import { makeToken } from '../../accounts/people/tokens.ts'
import { OperatorError } from '../../base/errors.ts'
import { measureProcess } from '../../base/metrics/process.ts'
import { createRegistry, type Registry } from '../../base/metrics/registry.ts'
import { measureThreads } from '../../base/metrics/threads.ts'
import { backupFolderOf } from '../../database/backup/folder.ts'
import { findMisplaced } from '../../database/citus.ts'
import { identifyDatabase } from '../../database/connect-check.ts'
import { holdsDatabase } from '../../database/embedded/embedded-server.ts'
import { migrate } from '../../database/migrate.ts'
import { watchSchema } from '../../database/newer-schema.ts'
import type { OpenDatabase } from '../../database/open.ts'
import {
  createConnectionMonitor,
  createReconnectingPool,
  endConnections,
} from '../../database/pools/reconnecting-pool.ts'
import { listen } from '../../http/listen.ts'
import { WHOLE_LISTS } from '../../http/whole-list.ts'
import { createApp } from '../../server/app.ts'
import { measureIntake, measureSessions } from '../../server/intake/measure.ts'
import { createIntakeThread } from '../../server/intake/thread.ts'
import { watchInbox } from '../../server/intake/write-telemetry.ts'
import { adminFetch } from '../../server/metrics/admin.ts'
import { measureDatabase } from '../../server/metrics/queries.ts'
import { createSecretBox } from '../../webhooks/signing/secret-box.ts'
import { openSecretKey } from '../../webhooks/signing/secret-key-queries.ts'
import { measureAttempts, superviseWorker } from '../../webhooks/worker/supervise.ts'
import type { Context } from '../command/context.ts'
import { measureDisks } from './backup-and-disk-metrics.ts'

/** The database is checked at this interval. */
const CHECK_MS = 1_000

/** Concurrent transactions of all organizations, of what is changed other than by sync. */
const WRITERS = 4
/** Short statements at once, of tries to sign in and of machines that ask for their keys. */
const SIGN_INS = 2
/** All requests wait for keys, leases of the limit and versions: a connection that does not respond is replaced. */
const LOOK_UP_LIMIT_MS = 3_000

export interface RunningServer {
  /** The address of the listener, with the actual port. */
  url: string
  /** The token of the link that makes the first organization. */
  setupToken: string | undefined
  database: OpenDatabase
  /** Everything that is measured in every server; what only the admin listener shows is added by it. */
  registry: Registry
  /** Rejects with OperatorError when the server cannot continue; never resolves. */
  failed: Promise<never>
  /** Stops accepting, awaits requests in flight, drains the worker, closes the database. Idempotent. */
  stop(): Promise<void>
}

export async function startServer(
  { config, log, spawnWorker, spawnIntake }: Context,
  database: OpenDatabase,
): Promise<RunningServer> {
  const { sql, target } = database
  try {
    await migrate(sql, log)
    const misplaced = await findMisplaced(sql)
    if (misplaced !== undefined && misplaced.length > 0)
      log.warn('tables are not distributed over the nodes of Citus: run `migrate --citus`', {
        tables: misplaced,
      })
    const secretKey = await openSecretKey(sql, config)
    const secrets = createSecretBox(secretKey)
    // the threads need none of these
    const settings = { ...config, secretKey: null, oidc: null, databaseUrl: null }
    const registry = createRegistry()
    const meterOf = measureThreads(registry)
    const intakeThread = createIntakeThread({
      meter: meterOf('intake', measureSessions(registry)),
      spawn: spawnIntake,
      target,
      settings,
      log,
      endConnections: (name) => endConnections(sql, name),
    })
    const intake = measureIntake(registry, intakeThread)
    const watch = watchInbox(sql, intakeThread, log)
    const openPool = (applicationName: string, max: number) =>
      createReconnectingPool(target, { applicationName, max })
    const writePool = openPool('cloud-analytics writes', WRITERS)
    const peoplePool = openPool('cloud-analytics sign-ins', SIGN_INS)
    const listPool = openPool('cloud-analytics lists', WHOLE_LISTS)
    const onSilent = () => log.rarely('warn', 'the database is silent; connecting anew')
    // one connection: its backend stays warm, and no slow read holds up a response from memory
    const lookUpPool = createReconnectingPool(
      target,
      { max: 1, applicationName: 'cloud-analytics look-ups', genericPlans: true },
      LOOK_UP_LIMIT_MS,
      onSilent,
    )
    const schema = watchSchema(lookUpPool.run, (state) => {
      log.error(`${state}; restart this instance with the newer program`)
      watch.stop()
      worker.abandon()
    })
    const pools = [writePool, peoplePool, listPool, lookUpPool]
    const checkConnections = createConnectionMonitor([database.pool, ...pools], log)
    // a unix socket is not checked, since it is never half open
    const checkTimer =
      'socketDir' in target ? undefined : setInterval(() => void checkConnections(), CHECK_MS)
    // a copy of a data directory has the same database: its server has another name
    const instance = database.embedded === undefined ? await identifyDatabase(sql) : randomUUID()
    const setupToken = config.passwords ? makeToken() : undefined
    const app = createApp({
      setupToken,
      instance,
      sql,
      writes: writePool.sql,
      people: peoplePool.sql,
      lists: listPool.sql,
      lookUp: lookUpPool.run,
      config,
      log,
      registry,
      now: () => new Date(),
      worker: () => worker.state(),
      schema: schema.state,
      intake,
      secrets,
      // the executable's responses were checked in tests
      checkResponses: !Bun.isStandaloneExecutable,
    })
    const stopAll = async (parts: readonly { stop(): Promise<unknown> }[]) => {
      watch.stop()
      schema.stop()
      await Promise.all(parts.map((part) => part.stop()))
      clearInterval(checkTimer)
      await Promise.all(pools.map((pool) => pool.end(5)))
    }
    let listening: ReturnType<typeof listen>
    try {
      listening = listen(app, config, log)
    } catch (error) {
      await stopAll([intake])
      throw error
    }
    // last, so that its start takes no processor from the server's
    const worker = superviseWorker({
      meter: meterOf('worker', measureAttempts(registry)),
      spawn: spawnWorker,
      target,
      settings,
      secretKey,
      log,
    })
    database.embedded?.announceServer(listening.url, instance)
    let stopping: Promise<void> | undefined
    return {
      url: listening.url,
      setupToken,
      database,
      registry,
      failed: postgresEnded(database, config.dataDir, () => stopping !== undefined),
      stop() {
        stopping ??= stopAll([listening, worker, intake]).then(database.close)
        return stopping
      },
    }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** PostgreSQL may end while its folder is being removed: what the folder lacks is seen after this time. */
const REMOVAL_MS = 500
/** A server without its data answers for this long that it is not ready. */
const NOT_READY_MS = 5_000

/** Rejects when the embedded PostgreSQL ends while the server is not stopping. */
async function postgresEnded(
  { embedded }: OpenDatabase,
  dataDir: string,
  isStopping: () => boolean,
): Promise<never> {
  const how = await (embedded?.exited ?? new Promise<never>(() => {}))
  if (isStopping()) return await new Promise<never>(() => {})
  await Bun.sleep(REMOVAL_MS)
  if (!holdsDatabase(dataDir)) {
    // PostgreSQL may end at once: a probe sees first that the server is not ready
    await Bun.sleep(NOT_READY_MS)
    throw new OperatorError(
      `the database in ${dataDir} was removed while the server ran: all of its data is lost, also what was answered since, and ` +
        'secret.key if it was there; restore a backup by `cloud-analytics restore FILE`, or the next start begins with an empty database',
    )
  }
  throw new OperatorError(`PostgreSQL ended by itself (${how}); nothing committed is lost, start again`)
}

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
