import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'
import { once } from '../base/memoize.ts'
import type { Config } from '../config.ts'
import { hasCitus } from './citus.ts'
import { type ConnectTarget, connect, type Sql } from './client.ts'
import { checkServer } from './connect-check.ts'
import {
  attachEmbedded,
  type Embedded,
  holdsDatabase,
  holdsOtherMajor,
  inUse,
  RESTORE_FOLDER,
  tryStartEmbedded,
} from './embedded/embedded-server.ts'
import { noteExternal, refuseExternal } from './embedded/external-note.ts'
import { type Role, readHolder } from './embedded/instance-lock.ts'
import { createReconnectingPool, type ReconnectingPool } from './pools/reconnecting-pool.ts'

/** The settings that say where the data is. A server's `sql` has `databasePool` connections. */
export type DatabaseConfig = Pick<Config, 'databaseUrl' | 'dataDir' | 'databasePool'>

export interface OpenDatabase extends AsyncDisposable {
  sql: Sql
  /** The pool behind `sql`. */
  pool: ReconnectingPool
  /** Further pools connect to this: the writes' and the worker's. */
  target: ConnectTarget
  /** Present when this process started the server. */
  embedded?: Embedded
  /** Ends the pool, and the server if this process started it. May be called twice. */
  close(): Promise<void>
}

/** A command runs one statement at a time, and several commands may run beside a server. */
const COMMAND_CONNECTIONS = 2
const POLL_MS = 20
/** A command waits this long for a starting server, and a server for a command that runs PostgreSQL. */
const WAIT_LIMIT_MS = 30_000
/** A process that has not published its role, and a server that was just killed, are awaited this long. */
const SHORT_WAIT_LIMIT_MS = 1_000

/**
 * Opens the database of `config`: the server at `databaseUrl`, or the embedded one. `serve` starts the embedded one and
 * fails when another server uses it; `command` connects to the running one, or starts it until `close`, and opens two
 * connections at most. Does not migrate. Throws OperatorError, never with a password in it; also when the data directory
 * holds no database and `create` is false, and when without `databaseUrl` the server of that directory has one.
 */
export async function openDatabase(
  config: DatabaseConfig,
  role: Role,
  log: Log,
  { create = true }: { create?: boolean } = {},
): Promise<OpenDatabase> {
  if (config.databaseUrl !== null && role === 'serve') noteExternal(config.dataDir, log)
  // the error of another major version is more useful: it names the commands that move the database
  if (config.databaseUrl === null && !(role === 'serve' && holdsOtherMajor(config.dataDir)))
    refuseExternal(config.dataDir)
  const isKnown = create || config.databaseUrl !== null || isBeingMade(config.dataDir)
  if (!isKnown && !holdsDatabase(config.dataDir)) throw noDatabase(config.dataDir)
  const database = await findOrStart(config, role, log)
  const { embedded } = database
  const use = role === 'command' ? { statementTimeoutMs: 0 } : { genericPlans: true, oneByOne: true }
  const { databasePool } = config
  const max = role === 'command' ? Math.min(COMMAND_CONNECTIONS, databasePool) : databasePool
  const openPool = (target: ConnectTarget) =>
    createReconnectingPool(target, { max, applicationName: `cloud-analytics ${role}`, ...use })
  let { target } = database
  let pool = openPool(target)
  const close = once(async () => {
    await pool.end(5)
    if (embedded === undefined) return
    if (role === 'command') await waitForOtherCommands(embedded.target, log)
    await embedded.stop()
  })
  try {
    await checkServer(pool.sql, target)
    if ('url' in target && (await hasCitus(pool.sql))) {
      await pool.end(5)
      target = { ...target, isCitus: true }
      pool = openPool(target)
    }
  } catch (error) {
    await close()
    throw error
  }
  const opened = { sql: pool.sql, pool, target, close, [Symbol.asyncDispose]: close }
  return { ...opened, ...(embedded === undefined ? {} : { embedded }) }
}

/** Whether a server or a restore makes a database in the folder, or has begun to. */
const isBeingMade = (dataDir: string): boolean =>
  readHolder(dataDir) !== undefined || existsSync(join(dataDir, RESTORE_FOLDER))

const noDatabase = (dataDir: string) =>
  new OperatorError(
    `${dataDir} holds no database: give the folder of one by --data-dir or DATA_DIR, or make one by \`cloud-analytics serve\``,
  )

async function findOrStart({ databaseUrl, dataDir }: DatabaseConfig, role: Role, log: Log) {
  if (databaseUrl !== null) return { target: { url: databaseUrl } }
  const start = performance.now()
  let isLogged = false
  for (;;) {
    const embedded = await tryStartEmbedded({ dataDir, log, role })
    if (embedded !== undefined) return { target: embedded.target, embedded }
    if (role === 'command') {
      const target = attachEmbedded(dataDir)
      if (target !== undefined) return { target }
    }
    const holder = readHolder(dataDir)
    const isOtherServer = role === 'serve' && holder?.role === 'serve'
    const limitMs = holder === undefined || isOtherServer ? SHORT_WAIT_LIMIT_MS : WAIT_LIMIT_MS
    if (performance.now() - start > limitMs) throw inUse(dataDir)
    if (!isLogged && role === 'serve' && holder?.role === 'command') {
      log.info('waiting for a command that uses the database', { pid: holder.pid })
      isLogged = true
    }
    await Bun.sleep(POLL_MS)
  }
}

const COUNT_MS = 200

/** Waits until no other command is connected to the server, before it is stopped. */
async function waitForOtherCommands(target: ConnectTarget, log: Log): Promise<void> {
  const sql = connect(target, { max: 1, applicationName: 'cloud-analytics close' })
  try {
    for (let isLogged = false; ; isLogged = true) {
      const [row] = await sql<{ others: number }[]>`
        select count(*)::int as others
        from pg_stat_activity a
        where a.backend_type = 'client backend' and a.pid <> pg_backend_pid()`
      if (row === undefined || row.others === 0) return
      if (!isLogged) log.info('waiting for other commands that use the database', { connections: row.others })
      await Bun.sleep(COUNT_MS)
    }
  } catch (error) {
    log.debug('PostgreSQL is gone already', { error })
  } finally {
    await sql.end({ timeout: 1 })
  }
}
