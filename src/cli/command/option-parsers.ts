import { readFileSync } from 'node:fs'
import { InvalidArgumentError } from 'commander'
import { MAX_RETENTION_DAYS } from '../../accounts/organizations/model.ts'
import { isTimeZone } from '../../base/dates.ts'
import { codeOf } from '../../base/errors.ts'
import { Invalid, integer as integerSetting, secondsOf } from '../../base/setting-parsers.ts'

/** Parsers of commands' options (settings have those of base/setting-parsers.ts): an integer from `minimum` to `maximum`. */
export const integer = (minimum: number, maximum: number) => (text: string) => {
  const value = integerSetting(minimum, maximum)(text)
  if (value instanceof Invalid) throw new InvalidArgumentError(`It ${value.reason}.`)
  return value
}

/** An option's parser: a duration such as 90s, 30m, 24h or 7d, in milliseconds, at most `maximumMs`. */
export const duration = (maximumMs: number) => (text: string) => {
  const value = millisOf(text)
  if (value <= maximumMs) return value
  throw new InvalidArgumentError(`It must be as 90s, 30m, 24h or 7d, at most ${maximumMs / 86_400_000}d.`)
}

/** An option's parser: a day (`2026-11-01`, from its beginning in UTC) or how long ago (`7d`); in ms since 1970. */
export function since(text: string): number {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Date.now() - millisOf(text)
  if (!Number.isNaN(ms)) return ms
  throw new InvalidArgumentError('It must be a day, as 2026-11-01, or how long ago, as 12h or 7d.')
}

/** An option's parser: days for which sessions are kept, as 400d or 400, or off: commander takes null for no value. */
export function retention(text: string): number | 'off' {
  if (text === 'off') return text
  const days = Number(/^(\d{1,5})d?$/.exec(text)?.[1] ?? 0)
  if (days >= 1 && days <= MAX_RETENTION_DAYS) return days
  throw new InvalidArgumentError(`It must be 1 to ${MAX_RETENTION_DAYS} days, as 400d or 400, or off.`)
}

/** An option's parser: the name of a time zone. */
export function timeZone(text: string): string {
  if (isTimeZone(text)) return text
  throw new InvalidArgumentError('It must be the name of a time zone of IANA, as Europe/Berlin.')
}

const millisOf = (text: string): number => secondsOf(text) * 1_000

/** An option's parser: a secret, or `@` and the file that has it, since every user sees the arguments of a program. */
export function secret(text: string): string {
  if (!text.startsWith('@')) return text
  const path = text.slice(1)
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '')
  } catch (error) {
    throw new InvalidArgumentError(`The file ${path} cannot be read: ${codeOf(error) ?? String(error)}.`)
  }
}
