// Tells errors of a lost connection, a deadlock and a full disk from others.

import { codeOf, messageOf } from '../base/errors.ts'

/** Errors of the driver, its socket, and PostgreSQL while it starts, stops, fails over or is overloaded. */
const CODES = new Set([
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
  // lock_not_available, query_canceled: a time-out, behind a writer or under load
  '55P03',
  '57014',
])

/** Whether the statement may succeed later: the database cannot be reached, or not execute it now. */
export function isConnectionError(error: unknown): boolean {
  const code = codeOf(error)
  // a host name with several addresses: the errors of all of them
  if (error instanceof AggregateError) return error.errors.some(isConnectionError)
  // class 08: connection exceptions
  return code !== undefined && (CODES.has(code) || /^08...$/.test(code))
}

/** Whether PostgreSQL aborted the transaction, since it and another waited for each other: it may succeed when repeated. */
export const isDeadlock = (error: unknown): boolean => codeOf(error) === '40P01'

/** Whether PostgreSQL could not write, since its disk or a quota is full. */
export const isDiskFull = (error: unknown): boolean =>
  codeOf(error) === '53100' || /No space left on device|Disk quota exceeded/.test(messageOf(error))
