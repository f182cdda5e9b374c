// Makes the first connection, explains why there is none, and names the database for messages.

import { codeOf, OperatorError } from '../base/errors.ts'
import type { ConnectTarget, Sql } from './client.ts'
import { isDiskFull } from './connection-errors.ts'

const MINIMUM_VERSION = 15
const STARTING_UP = '57P03'
const STARTING_UP_LIMIT_MS = 30_000
const STARTING_UP_PAUSE_MS = 200

/** Makes the first connection within 30 s. Throws OperatorError where there is none, or for PostgreSQL before 15. */
export async function checkServer(sql: Sql, target: ConnectTarget): Promise<void> {
  const deadline = performance.now() + STARTING_UP_LIMIT_MS
  for (;;) {
    try {
      const [row] = await sql<{ version: number; text: string }[]>`
        select current_setting('server_version_num')::int / 10000 as version, current_setting('server_version') as text`
      if (row !== undefined && row.version < MINIMUM_VERSION)
        throw new OperatorError(
          `${targetText(target)} is PostgreSQL ${row.text}: version ${MINIMUM_VERSION} or newer is needed`,
        )
      return
    } catch (error) {
      if (codeOf(error) !== STARTING_UP || performance.now() > deadline) throw explain(error, target)
      await Bun.sleep(STARTING_UP_PAUSE_MS)
    }
  }
}

/** An opaque text that is the same for every connection to this database, and another one for every other database. */
export async function identifyDatabase(sql: Sql): Promise<string> {
  const [row] = await sql<{ name: string }[]>`
    select concat_ws('/', s.system_identifier, d.oid, current_schema()) as name
    from pg_control_system() s
    join pg_database d on d.datname = current_database()`
  return new Bun.CryptoHasher('sha256')
    .update(row?.name ?? '')
    .digest('hex')
    .slice(0, INSTANCE_LENGTH)
}
const INSTANCE_LENGTH = 16

/** Address and database of the server, without secrets, for messages to the operator. */
export function targetText(target: ConnectTarget): string {
  if ('socketDir' in target) return `the embedded database (${target.socketDir})`
  const url = new URL(target.url)
  return `the database ${url.pathname.slice(1)} at ${url.searchParams.get('host') ?? url.host}`
}

function explain(error: unknown, target: ConnectTarget): unknown {
  // the command explains a full disk better (`fullDiskError`)
  if (error instanceof OperatorError || !(error instanceof Error) || isDiskFull(error)) return error
  const place = targetText(target)
  const code = codeOf(error) ?? ''
  if (/unsupported startup parameter/.test(error.message))
    return new OperatorError(
      `${place} is a PgBouncer that refuses our settings: give it ` +
        'ignore_startup_parameters = statement_timeout,lock_timeout,idle_in_transaction_session_timeout,plan_cache_mode',
    )
  const problems: readonly [codes: RegExp, problem: string][] = [
    [/^(28P01|28000|3D000|53300|42501)$/, `refuses us: ${error.message}; check DATABASE_URL`],
    [/^(ECONNREFUSED|ENOENT)$/, 'does not answer: no server listens there; check DATABASE_URL'],
    [/^(ENOTFOUND|EAI_AGAIN)$/, 'does not answer: the host name is unknown; check DATABASE_URL'],
    [/^(CONNECT_TIMEOUT|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH)$/, 'does not answer in time; check DATABASE_URL'],
    [/^SSL_NOT_SUPPORTED$/, 'offers no TLS, and sslmode in DATABASE_URL demands it'],
    [
      /CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO/,
      `fails the TLS check (${code}); see sslmode and sslrootcert in DATABASE_URL`,
    ],
  ]
  const [, problem] = problems.find(([codes]) => codes.test(code)) ?? []
  return new OperatorError(`${place} ${problem ?? `cannot be used: ${error.message} ${code}`.trim()}`)
}
