// Connects to PostgreSQL, with the driver's options and types.

import { readFileSync } from 'node:fs'
import { Socket } from 'node:net'
import type { ConnectionOptions } from 'node:tls'
import postgres from 'postgres'
import { OperatorError } from '../base/errors.ts'
import { decodePart } from '../base/text.ts'

/** A pool of connections; a tagged template runs on any of them. */
export type Sql = postgres.Sql
/** A pool, or the connection of `sql.begin`: for queries that run inside and outside of transactions. */
export type ISql = postgres.ISql
/** A part of a statement, for use inside another. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>

/** A PostgreSQL by URL, or the embedded one by its socket's folder. `isCitus`: it refuses generic plans. */
export type ConnectTarget =
  | { url: string; isCitus?: boolean }
  | { socketDir: string; user: string; database: string }

export interface ConnectOptions {
  /** Connections at most; each is opened when first needed. */
  max: number
  /** Shown in `pg_stat_activity`. */
  applicationName: string
  /** 25,000 unless given, below the HTTP server's limit of 30 s; 0: no limit, for long commands. */
  statementTimeoutMs?: number
  /** One plan for each statement: planning takes as long as a page. Every statement must be fast with it (test/flat). */
  genericPlans?: boolean
  /** A connection gets a statement when it has answered the one before: the driver would send up to 100 behind a slow one. */
  oneByOne?: boolean
  /** Gets the socket of each connection before it connects. */
  onSocket?: (socket: Socket) => void
  onnotice?: (notice: postgres.Notice) => void
}

/** The embedded PostgreSQL's socket in its folder. */
export const SOCKET_NAME = '.s.PGSQL.5432'
const socketPath = (socketDir: string): string => `${socketDir}/${SOCKET_NAME}`

const STATEMENT_TIMEOUT_MS = 25_000
const LOCK_TIMEOUT_MS = 25_000
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 60_000
const CONNECT_TIMEOUT_S = 10
/** An idle connection is a process of some MB in the server. */
const IDLE_TIMEOUT_S = 300
/** The driver's own back-off grows to 20 s; queries must succeed within 5 s after the database restarts. */
const MAX_BACKOFF_S = 1

/** Dates and timestamps may be given as text, which has microseconds. Only timestamps come back as `Date`. */
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

/** The driver's own options, as its option `socket` gets them. */
interface Place {
  /** The path of a unix socket. */
  path: string | false
  host: string[]
  port: number[]
}

/**
 * The driver's option `socket`: a function that opens sockets, at the URL's hosts in turn. As the driver's own do, they have
 * the host, which goes into the greeting of TLS and into errors. A server that closes a connection without a word, as a
 * balancer does that has none behind it, is an error: the driver would connect again at once, for ever.
 */
function socketOption(onSocket: ConnectOptions['onSocket'] = () => {}) {
  let opened = 0
  return ({ path, host, port }: Place): Socket => {
    const nth = opened++ % host.length
    const at = { host: host[nth] ?? '', port: port[nth] ?? 0 }
    const opening = new Socket()
    onSocket(opening)
    opening.once('end', () => {
      if (opening.bytesRead > 0) return
      const error = new Error('the server closed the connection before it answered')
      opening.destroy(Object.assign(error, { code: 'ECONNRESET' }))
    })
    // the driver listens as soon as it has the socket, and a missing file is reported before the next turn of the loop
    queueMicrotask(() => opening.connect(path ? { path } : at))
    return Object.assign(opening, at)
  }
}

/**
 * Opens a pool; nothing is sent before the first query. int8 and numeric come back as strings, date as
 * `YYYY-MM-DD`, timestamptz as `Date`. Throws OperatorError when the URL is malformed.
 *
 * Behind PgBouncer in transaction mode: `max_prepared_statements` above 0 (1.21 or newer), or
 * `?prepare=false` in the URL; and `ignore_startup_parameters =
 * statement_timeout,lock_timeout,idle_in_transaction_session_timeout,plan_cache_mode`.
 */
export function connect(target: ConnectTarget, options: ConnectOptions): Sql {
  const shared = {
    max: options.max,
    connect_timeout: CONNECT_TIMEOUT_S,
    idle_timeout: IDLE_TIMEOUT_S,
    // typed as a number, but the driver also takes a function of the number of failures
    backoff: ((retries: number) => Math.min(0.05 * 2 ** retries, MAX_BACKOFF_S)) as never,
    onnotice: options.onnotice ?? (() => {}),
    types: TYPES,
    ...(options.oneByOne === true ? { max_pipeline: 0 } : {}),
    // an option of the driver that its types lack
    socket: socketOption(options.onSocket),
  }
  if ('socketDir' in target) {
    const { socketDir, user, database } = target
    // without `host`, `port` and `pass` the driver reads PGHOST, PGPORT and PGPASSWORD
    const socket = { path: socketPath(socketDir), host: 'localhost', port: 5432, pass: '' }
    const connection = sessionSettings(options)
    return postgres({ ...shared, connection, ...socket, user, database, ssl: false })
  }
  const url = parseUrl(target.url)
  const ssl = tlsOf(url)
  const prepare = url.searchParams.get('prepare') !== 'false'
  url.searchParams.delete('prepare')
  // Without prepared statements a pooler is in front. It gives the server's connection to another client when a statement is
  // answered, whatever was sent behind it: the driver asks for the types of parameters first, and would wait for ever.
  if (!prepare) Object.assign(shared, { max_pipeline: 0 })
  // no plan is kept then, and the pooler refuses settings that it does not know
  const keepsPlans = prepare && target.isCitus !== true
  const connection = sessionSettings(keepsPlans ? options : { ...options, genericPlans: false })
  // libpq's parameter for the folder of a unix socket; the driver would send it to the server as a setting
  const socketDir = url.searchParams.get('host')
  const isSocket = socketDir?.startsWith('/') === true
  if (isSocket) url.searchParams.delete('host')
  const place = isSocket ? { ssl: false, path: `${socketDir}/.s.PGSQL.${url.port || 5432}` } : { ssl }
  return postgres(url.href, { ...shared, connection, prepare, ...place })
}

function sessionSettings(options: ConnectOptions) {
  const timeouts = {
    // text: the driver omits the number 0, and the server's default would apply
    statement_timeout: String(options.statementTimeoutMs ?? STATEMENT_TIMEOUT_MS),
    lock_timeout: String(options.statementTimeoutMs === 0 ? 0 : LOCK_TIMEOUT_MS),
    idle_in_transaction_session_timeout: String(IDLE_IN_TRANSACTION_TIMEOUT_MS),
    ...(options.genericPlans === true ? { plan_cache_mode: 'force_generic_plan' } : {}),
  }
  return {
    application_name: options.applicationName,
    TimeZone: 'UTC',
    DateStyle: 'ISO, MDY',
    ...timeouts,
  } as unknown as { application_name: string }
}

/** Errors do not contain the text: it has a password. */
function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (url === null || !/^postgres(ql)?:$/.test(url.protocol))
    throw new OperatorError('DATABASE_URL is not of the form postgres://user:password@host:5432/database')
  // a password with one of these characters ends the host's name: its rest would be taken for a port, a database or a
  // parameter, which errors name
  if (/^[^/]*\/\/[^/?#]*[/?#].*@/s.test(text) || url.hash !== '' || decodePart(text) === undefined)
    throw new OperatorError(
      'DATABASE_URL has a character that must be percent-encoded, in the password for instance: / as %2F, ? as %3F, # as %23, @ as %40, % as %25',
    )
  return url
}

/** The driver's option `ssl`: no TLS, TLS if the server offers it, or TLS with these options. */
type Tls = false | 'prefer' | ConnectionOptions

const PARAMETERS = ['sslmode', 'sslrootcert', 'sslcert', 'sslkey']

/** Reads `sslmode`, `sslrootcert`, `sslcert` and `sslkey` as libpq does, and takes them from the URL. Throws OperatorError. */
function tlsOf(url: URL): Tls {
  const [mode, rootCert, cert, key] = PARAMETERS.map((name) => url.searchParams.get(name))
  for (const name of PARAMETERS) url.searchParams.delete(name)
  const files = {
    ...(rootCert && rootCert !== 'system' ? { ca: readPem('sslrootcert', rootCert) } : {}),
    ...(cert ? { cert: readPem('sslcert', cert) } : {}),
    ...(key ? { key: readPem('sslkey', key) } : {}),
  }
  switch (mode ?? (rootCert === 'system' ? 'verify-full' : 'prefer')) {
    case 'disable':
      return false
    case 'allow':
    case 'prefer':
      return 'prefer'
    case 'require':
      // libpq does the same: with a root certificate `require` checks the chain
      return rootCert ? verifyCa(files) : { ...files, rejectUnauthorized: false }
    case 'verify-ca':
      return verifyCa(files)
    case 'verify-full':
      return { ...files, rejectUnauthorized: true }
    default:
      throw new OperatorError(
        `DATABASE_URL has sslmode=${mode}: it must be disable, allow, prefer, require, verify-ca or verify-full`,
      )
  }
}

const verifyCa = (files: ConnectionOptions): ConnectionOptions => ({
  ...files,
  rejectUnauthorized: true,
  checkServerIdentity: () => undefined,
})

function readPem(parameter: string, path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new OperatorError(`DATABASE_URL has ${parameter}=${path}, which cannot be read: ${String(error)}`)
  }
}
