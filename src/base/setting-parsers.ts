// Parsers of settings (config.ts) and of commands' options: from the text of a flag or an environment variable to a value.

import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

/** The reason why a text is not a valid value. `reason` never contains the text, which may be a secret. */
export class Invalid {
  constructor(readonly reason: string) {}
}

export type Parser<Value> = (text: string) => Value | Invalid

export const integer =
  (minimum: number, maximum: number): Parser<number> =>
  (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= minimum && value <= maximum
      ? value
      : new Invalid(`must be an integer from ${minimum} to ${maximum}`)
  }

export const integers =
  (item: Parser<number>, minItems: number, maxItems: number, reason: string): Parser<readonly number[]> =>
  (text) => {
    const values = text.split(',').map((part) => item(part.trim()))
    const valid = values.filter((value) => typeof value === 'number')
    const isValid = valid.length === values.length && valid.length >= minItems && valid.length <= maxItems
    return isValid ? valid : new Invalid(reason)
  }

export const oneOf =
  <Value extends string>(values: readonly Value[]): Parser<Value> =>
  (text) =>
    values.find((value) => value === text) ?? new Invalid(`must be one of ${values.join(', ')}`)

export const matching =
  (pattern: RegExp, reason: string): Parser<string> =>
  (text) =>
    pattern.test(text) ? text : new Invalid(reason)

export const boolean: Parser<boolean> = (text) => {
  if (/^(true|1|yes|on)$/i.test(text)) return true
  return /^(false|0|no|off)$/i.test(text) ? false : new Invalid('must be true or false')
}

/** `value=item` pairs, separated by commas, or for values with a comma or `=` a JSON object of them. */
export const mapTo =
  <Item extends string>(items: readonly Item[]): Parser<ReadonlyMap<string, Item>> =>
  (text) => {
    const pairs = text.startsWith('{')
      ? entriesOf(text)
      : text.split(',').map((pair) => (/^\s*(.+?)\s*=\s*([a-z]+)\s*$/.exec(pair) ?? []).slice(1))
    const map = new Map<string, Item>()
    for (const [value = '', name] of pairs) {
      const item = items.find((candidate) => candidate === name)
      if (item !== undefined) map.set(value, item)
    }
    return map.size > 0 && map.size === pairs.length
      ? map
      : new Invalid(`must be value=role, separated by commas, or a JSON object; roles: ${items.join(', ')}`)
  }

function entriesOf(json: string): [string, unknown][] {
  try {
    return Object.entries(JSON.parse(json) as object)
  } catch {
    return []
  }
}

/** Names of claims, each inside of the one before, separated by dots; a name with dots is in quotes. */
export const claimPath: Parser<readonly string[]> = (text) => {
  const name = '(?:"[^"\\s]+"|[^".\\s]+)'
  return new RegExp(`^${name}(?:\\.${name})*$`).test(text)
    ? [...text.matchAll(new RegExp(name, 'g'))].map(([part]) => part.replaceAll('"', ''))
    : new Invalid('must be names separated by dots, as realm_access.roles; a name with dots in quotes')
}

export const domains: Parser<readonly string[]> = (text) => {
  const values = text.split(',').map((part) => part.trim().toLowerCase())
  return values.every((value) => /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/.test(value))
    ? values
    : new Invalid('must be domains such as example.com, separated by commas')
}

const SECONDS_OF: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const MAX_SECONDS = 366 * 86_400

/** The seconds of a time such as `90s`, `30m`, `24h` or `7d`; NaN for another text. */
export function secondsOf(text: string): number {
  const [, count, unit = ''] = /^(\d{1,9})([smhd])$/.exec(text) ?? []
  return Number(count) * (SECONDS_OF[unit] ?? Number.NaN)
}

/** A time such as `90s`, `30m`, `24h` or `7d`, in seconds: 1 second to 366 days. */
export const duration: Parser<number> = (text) => {
  const seconds = secondsOf(text)
  return seconds >= 1 && seconds <= MAX_SECONDS
    ? seconds
    : new Invalid('must be a time such as 30m, 24h or 7d, up to 366d')
}

/** An absolute http or https URL, without a trailing slash. */
export const httpUrl: Parser<string> = (text) => {
  const { protocol = '', hostname = '' } = URL.canParse(text) ? new URL(text) : {}
  const isValid = (protocol === 'http:' || protocol === 'https:') && hostname !== ''
  return isValid ? text.replace(/\/+$/, '') : new Invalid('must be an absolute http or https URL')
}

/** 32 bytes in base64 or base64url. */
export const key32: Parser<Uint8Array> = (text) => {
  const bytes = /^[A-Za-z0-9+/_-]{43}=?$/.test(text) ? Buffer.from(text, 'base64') : undefined
  return bytes?.length === 32
    ? new Uint8Array(bytes)
    : new Invalid('must be 32 bytes in base64 (openssl rand -base64 32)')
}

/** IP networks, separated by commas: addresses without leading zeros, and no bit set behind the prefix. */
export const networks: Parser<readonly string[]> = (text) => {
  const values = text.split(',').map((part) => part.trim())
  return values.every(isNetwork)
    ? values
    : new Invalid(
        'must be networks such as 10.0.0.0/8, separated by commas: numbers without leading zeros, and all bits after the prefix 0 (one address is 10.1.2.3/32)',
      )
}

function isNetwork(text: string): boolean {
  const [, address = ''] = /^([0-9a-f.:]+)\/(?:0|[1-9]\d*)$/i.exec(text) ?? []
  // isIP refuses leading zeros: some programs read them as octal, so that 010.0.0.0 is 8.0.0.0
  const family = { 4: ipaddr.IPv4, 6: ipaddr.IPv6 }[isIP(address)]
  if (family === undefined || !family.isValidCIDR(text)) return false
  return family.networkAddressFromCIDR(text).toString() === family.parse(address).toString()
}
