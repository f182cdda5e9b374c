import postgres from 'postgres'
import { OperatorError } from '../errors.ts'
import { tlsOf } from './tls.ts'

/** A pool of connections; tagged templates run on any of them. */
export type Sql = postgres.Sql
/** A pool, or the one connection inside `sql.begin`: for queries that serve both. */
export type ISql = postgres.ISql
/** A part of a statement, to be put into another. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

/** Where a server listens: any PostgreSQL by URL, or the embedded one by the folder of its socket. */
export type ConnectTarget = { url: string } | { socketDir: string; user: string; database: string }

export interface ConnectOptions {
  /** Connections at most; each is opened when first needed. */
  max: number
  /** Shown in `pg_stat_activity`. */
  applicationName: string
  /** 25,000 unless given, so that a slow query ends before the HTTP server's 30 s; 0 for long commands: none. */
  statementTimeoutMs?: number
  onnotice?: (notice: postgres.Notice) => void
}

const STATEMENT_TIMEOUT_MS = 25_000
const LOCK_TIMEOUT_MS = 10_000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000
const CONNECT_TIMEOUT_S = 10
/** An idle connection is a process of some MB in the server. */
const IDLE_TIMEOUT_S = 300
/** The driver's own back-off grows to 20 s; after a restart of the database we want to be back within 5. */
const MAX_BACKOFF_S = 1

/**
 * Texts pass as they are, both ways: through a `Date` a timestamp would lose its microseconds and a day could move.
 * Only instants come back as `Date`, and a `Date` may be given for both.
 */
const TYPES = {
  date: {
    to: 1082,
    from: [1082],
    serialize: (value: Date | string) => (value instanceof Date ? value.toISOString().slice(0, 10) : value),
    parse: (text: string) => text,
  },
  timestamptz: {
    to: 1184,
    from: [1114, 1184],
    serialize: (value: Date | string) => (value instanceof Date ? value.toISOString() : value),
    parse: (text: string) => new Date(text),
  },
}

/**
 * Opens a pool; nothing is sent before the first query. int8 and numeric come back as strings, date as `YYYY-MM-DD`,
 * timestamptz as `Date`. Throws OperatorError when the URL is malformed.
 *
 * Behind PgBouncer in transaction mode: `max_prepared_statements` above 0 (1.21 or newer), or `?prepare=false` in the
 * URL; and `ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout`.
 */
export function connect(target: ConnectTarget, options: ConnectOptions): Sql {
  const shared = {
    max: options.max,
    connect_timeout: CONNECT_TIMEOUT_S,
    idle_timeout: IDLE_TIMEOUT_S,
    // Typed as a number, but the driver takes a function of the failures so far.
    backoff: ((retries: number) => Math.min(0.05 * 2 ** retries, MAX_BACKOFF_S)) as never,
    onnotice: options.onnotice ?? (() => {}),
    types: TYPES,
    connection: sessionSettings(options),
  }
  if ('socketDir' in target) {
    const { socketDir, user, database } = target
    // `host`, `port` and `pass` given, or PGHOST, PGPORT and PGPASSWORD would be asked.
    const place = { path: `${socketDir}/.s.PGSQL.5432`, host: 'localhost', port: 5432, pass: '' }
    return postgres({ ...shared, ...place, user, database, ssl: false })
  }
  const url = parseUrl(target.url)
  const ssl = tlsOf(url)
  const prepare = url.searchParams.get('prepare') !== 'false'
  url.searchParams.delete('prepare')
  // libpq's way to name a unix socket; the driver would send it to the server as a setting.
  const socketDir = url.searchParams.get('host')
  if (socketDir?.startsWith('/') !== true) return postgres(url.href, { ...shared, ssl, prepare })
  url.searchParams.delete('host')
  return postgres(url.href, {
    ...shared,
    ssl: false,
    prepare,
    path: `${socketDir}/.s.PGSQL.${url.port || 5432}`,
  })
}

function sessionSettings(options: ConnectOptions) {
  const timeouts = {
    // As text: the driver leaves out a number 0, and then a server's default would hold.
    statement_timeout: String(options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS),
    lock_timeout: String(options.statementTimeoutMs === 0 ? 0 : LOCK_TIMEOUT_MS),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_TIMEOUT_MS),
  }
  return {
    application_name: options.applicationName,
    TimeZone: 'UTC',
    DateStyle: 'ISO, MDY',
    ...timeouts,
  } as unknown as { application_name: string }
}

function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol)) {
    throw new OperatorError('DATABASE_URL is not of the form postgres://user:password@host:5432/database')
  }
  return url
}
