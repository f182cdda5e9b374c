// Structured lines on standard error; standard output belongs to answers. Nothing secret passes: fields with a
// secret's name and values of a secret's form are masked here, at the only way out.

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error', 'silent'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]
export type LogFormat = 'json' | 'pretty'
export type LogFields = Record<string, unknown>

export interface Log {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

const MASK = '[redacted]'
const SECRET_NAME = /^(authorization|cookie|password|secret|secret_key|token|api_?key|key|database_url)$/i
const SECRET_FORM =
  /ca_live_[A-Za-z0-9]+_[A-Za-z0-9]+|whsec_[A-Za-z0-9+/=_-]+|(?<=Bearer\s+)\S+|(?<=:\/\/[^\s:/@]*:)[^\s@/]+(?=@)/gi

/** The text with API keys, signing secrets, bearer tokens and passwords in URLs masked. */
export function redact(text: string): string {
  return text.replace(SECRET_FORM, MASK)
}

function redactFields(fields: LogFields): LogFields {
  const safe: LogFields = {}
  for (const [name, value] of Object.entries(fields)) {
    if (SECRET_NAME.test(name)) safe[name] = MASK
    else if (typeof value === 'string') safe[name] = redact(value)
    else if (value instanceof Error) safe[name] = redact(value.stack ?? String(value))
    else safe[name] = value
  }
  return safe
}

/** A log that writes lines at or above `level` through `write` (standard error unless given). */
export function createLog(
  level: LogLevel,
  format: LogFormat,
  write: (line: string) => void = (line) => process.stderr.write(line),
): Log {
  const threshold = LOG_LEVELS.indexOf(level)
  const render = format === 'json' ? jsonLine : prettyLine
  const at = (name: LogLevel) => {
    if (LOG_LEVELS.indexOf(name) < threshold) return () => {}
    return (message: string, fields: LogFields = {}) =>
      write(render(name, redact(message), redactFields(fields)))
  }
  return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') }
}

function jsonLine(level: LogLevel, message: string, fields: LogFields): string {
  return `${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`
}

function prettyLine(level: LogLevel, message: string, fields: LogFields): string {
  const tail = Object.entries(fields)
    .map(([name, value]) => ` ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('')
  return `${new Date().toISOString().slice(11, 23)} ${level.padEnd(5)} ${message}${tail}\n`
}
