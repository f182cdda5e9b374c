// Structured log lines on standard error; standard output is for results of commands. Fields with the name of
// a secret and values with the form of a secret are masked here, since every line passes through.

import { visible } from './text.ts'
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
export const LOG_FORMATS = ['pretty', 'json'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]
export type LogFields = Record<string, unknown>

export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  /** Writes a line for each of `list` together; `level` says at which level. */
  all(message: string, list: readonly LogFields[], level: (fields: LogFields) => 'debug' | 'info'): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
  /** Writes this message once a minute at most: while the database is away, everything fails by it. */
  rarely(level: 'warn' | 'error', message: string, fields?: LogFields): void
}

const RARELY_MS = 60_000

const MASK = '[redacted]'
const SECRET_NAME =
  /^((proxy-)?authorization|(set-)?cookie|password|secret|secret[_-]?key|token|(x-)?api[_-]?key|key|database_?url)$/i

/** Matches secrets in a text. Bearer tokens and passwords, whose form is not known, are `characters`. */
const secretForms = (characters: string) =>
  new RegExp(
    [
      'ca_live_[A-Za-z0-9]+_[A-Za-z0-9]+',
      'whsec_[A-Za-z0-9+/=_-]+',
      `(?<=Bearer\\s+)${characters}`,
      `(?<=\\bpassword=)${characters}`,
      // up to the last @: a password may contain / and @, though these should be encoded
      `(?<=://[^\\s:/]*:)${characters}(?=@)`,
    ].join('|'),
    'gi',
  )
const SECRET_IN_TEXT = secretForms('\\S+')
/** A string in a line of JSON ends at its quote, which must not be masked. */
const SECRET_IN_LINE = secretForms('(?:\\\\.|[^\\s"\\\\])+')

/** Every text with a secret of these forms contains one of these. Most texts do not, and are searched for nothing else. */
const MAY_HOLD_SECRET = /ca_live_|whsec_|bearer|password=|:\/\//i

/** The text with API keys, signing secrets, bearer tokens and passwords in URLs masked. */
export const redact = (text: string): string =>
  MAY_HOLD_SECRET.test(text) ? text.replace(SECRET_IN_TEXT, MASK) : text

const redactLine = (line: string): string =>
  MAY_HOLD_SECRET.test(line) ? line.replace(SECRET_IN_LINE, MASK) : line

/** The replacer for JSON.stringify: masks secrets by name and by form, at any depth. */
function masked(name: string, value: unknown): unknown {
  if (SECRET_NAME.test(name) && value !== undefined) return MASK
  if (typeof value === 'string') return redact(value)
  if (typeof value === 'bigint') return String(value)
  return value instanceof Error ? redact(value.stack ?? String(value)) : value
}

/** A log that writes lines at or above `level` through `write` (standard error unless given), some of them together. */
export function createLog(
  level: LogLevel,
  format: LogFormat,
  write: (lines: string) => void = (lines) => process.stderr.write(lines),
): Log {
  const threshold = LOG_LEVELS.indexOf(level)
  const render = format === 'json' ? jsonLine : prettyLine
  const isWritten = (name: LogLevel) => LOG_LEVELS.indexOf(name) >= threshold
  const entry = (name: LogLevel, message: string, fields: LogFields) => render(name, redact(message), fields)
  const writerOf = (name: LogLevel) => {
    if (!isWritten(name)) return () => {}
    return (message: string, fields: LogFields = {}) => write(entry(name, message, fields))
  }
  const writtenAt = new Map<string, number>()
  const log: Log = {
    debug: writerOf('debug'),
    info: writerOf('info'),
    all(message, list, level) {
      const lines = list.flatMap((fields) => {
        const name = level(fields)
        return isWritten(name) ? entry(name, message, fields) : []
      })
      if (lines.length > 0) write(lines.join(''))
    },
    warn: writerOf('warn'),
    error: writerOf('error'),
    rarely(level, message, fields) {
      const nowMs = performance.now()
      if (nowMs - (writtenAt.get(message) ?? -Infinity) < RARELY_MS) return
      writtenAt.set(message, nowMs)
      log[level](message, fields)
    },
  }
  return log
}

/** Whether a line of JSON with these fields and no secret in its text needs no `masked`, which takes five times as long. */
function isPlain(fields: LogFields): boolean {
  for (const name in fields) {
    const type = typeof fields[name]
    if ((type !== 'string' && type !== 'number') || SECRET_NAME.test(name)) return false
  }
  return true
}

function jsonLine(level: LogLevel, message: string, fields: LogFields): string {
  const record = { time: new Date().toISOString(), level, message, ...fields }
  if (isPlain(fields)) {
    const line = `${JSON.stringify(record)}\n`
    if (!MAY_HOLD_SECRET.test(line)) return line
  }
  return redactLine(`${JSON.stringify(record, masked)}\n`)
}

function prettyLine(level: LogLevel, message: string, fields: LogFields): string {
  const tail = Object.entries(fields)
    .map(([name, value]) => {
      const shown = masked(name, value)
      return ` ${name}=${typeof shown === 'string' ? shown : JSON.stringify(shown, masked)}`
    })
    .join('')
  return redactLine(
    visible(`${new Date().toISOString().slice(11, 23)} ${level.padEnd(5)} ${message}${tail}\n`),
  )
}
