import { codeOf } from '../errors.ts'

// Errors that mean the database cannot be asked just now, not that the question was wrong: of the driver, of the
// socket below it, and of PostgreSQL itself while it starts, stops, fails over or is full.

const AWAY = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  // admin_shutdown, crash_shutdown, cannot_connect_now, idle_session_timeout
  '57P01',
  '57P02',
  '57P03',
  '57P05',
  // too_many_connections; read_only_sql_transaction: a standby, in the middle of a failover
  '53300',
  '25006',
  // lock_not_available, query_canceled: it takes too long now, behind a writer or under load
  '55P03',
  '57014',
])

/** True when `error` says that the database is away for now. */
export function isDatabaseAway(error: unknown): boolean {
  const code = codeOf(error)
  // A name with several addresses fails with all their errors in one.
  if (error instanceof AggregateError) return error.errors.some(isDatabaseAway)
  // Class 08: connection exceptions.
  return code !== undefined && (AWAY.has(code) || /^08...$/.test(code))
}
