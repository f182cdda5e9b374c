import type { ConnectTarget, Sql } from './db/client.ts'
import { checkServer } from './db/connect-check.ts'
import { othersGone } from './db/embedded/attached-commands.ts'
import { attachEmbedded, type Embedded, inUse, tryStartEmbedded } from './db/embedded/embedded.ts'
import { type Role, readHolder } from './db/embedded/instance-lock.ts'
import { createRenewable, type RenewablePool } from './db/reconnecting-pool.ts'
import type { Log } from './log.ts'

/** The part of the settings that says where the data lives. */
export interface DatabaseConfig {
  /** Any PostgreSQL 15 or newer; null: the embedded one in `dataDir`. */
  databaseUrl: string | null
  dataDir: string
  /** Connections at most. */
  databasePool: number
}

export interface OpenDatabase {
  sql: Sql
  /** What `sql` asks. */
  pool: RenewablePool
  /** For further pools: the worker's, LISTEN. */
  target: ConnectTarget
  /** Present when this process started the server. */
  embedded?: Embedded
  /** Ends the pool, and the server if it is ours. May be called twice. */
  close(): Promise<void>
}

/** A command does one thing after the other; many may run beside a server. */
const COMMAND_CONNECTIONS = 2
const POLL_MS = 20
/** How long a command waits for a server that is being started, and a server for a command that has PostgreSQL. */
const PATIENCE_MS = 30_000
/** A holder that has not yet said who it is, or a server that was just killed and is not quite gone. */
const SHORT_PATIENCE_MS = 1_000

/**
 * Opens the database of `config`: the server behind `databaseUrl`, or the embedded one. `serve` starts the embedded one
 * and fails when another server has it; `command` uses the running one, or starts it until `close`, by two connections at most. Does not migrate.
 * Throws OperatorError, never with a password in it.
 */
export async function openDatabase(config: DatabaseConfig, role: Role, log: Log): Promise<OpenDatabase> {
  const { target, embedded } = await locate(config, role, log)
  const timeout = role === 'command' ? { statementTimeoutMs: 0 } : {}
  const max = role === 'command' ? Math.min(COMMAND_CONNECTIONS, config.databasePool) : config.databasePool
  const pool = createRenewable(target, { max, applicationName: `cloud-analytics ${role}`, ...timeout })
  const { sql } = pool
  const end = async () => {
    await pool.end(5)
    if (embedded === undefined) return
    if (role === 'command') await othersGone(embedded.target, log)
    await embedded.stop()
  }
  let ended: Promise<void> | undefined
  const close = () => {
    ended ??= end()
    return ended
  }
  try {
    await checkServer(sql, target)
  } catch (error) {
    await close()
    throw error
  }
  return { sql, pool, target, close, ...(embedded === undefined ? {} : { embedded }) }
}

async function locate(
  { databaseUrl, dataDir }: DatabaseConfig,
  role: Role,
  log: Log,
): Promise<{ target: ConnectTarget; embedded?: Embedded }> {
  if (databaseUrl !== null) return { target: { url: databaseUrl } }
  const start = performance.now()
  let told = false
  for (;;) {
    const embedded = await tryStartEmbedded({ dataDir, log, role })
    if (embedded !== undefined) return { target: embedded.target, embedded }
    if (role === 'command') {
      const target = attachEmbedded(dataDir)
      if (target !== undefined) return { target }
    }
    const holder = readHolder(dataDir)
    const hopeless = holder === undefined || (role === 'serve' && holder.role === 'serve')
    if (performance.now() - start > (hopeless ? SHORT_PATIENCE_MS : PATIENCE_MS)) throw inUse(dataDir)
    if (!told && role === 'serve' && holder?.role === 'command') {
      log.info('waiting for a command that uses the database', { pid: holder.pid })
      told = true
    }
    await Bun.sleep(POLL_MS)
  }
}
