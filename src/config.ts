import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { codeOf, OperatorError } from './errors.ts'
import { LOG_LEVELS, type LogFormat, type LogLevel } from './log.ts'
import { type PriceOverrides, parsePriceOverrides } from './model-prices.ts'

/** The plans, from the smallest. */
export const PLANS = ['cloud_pro', 'cloud_team', 'cloud_enterprise'] as const
export type Plan = (typeof PLANS)[number]

/** Every setting; each is an environment variable of this name and a flag (`--data-dir` for DATA_DIR). */
export interface Config {
  host: string
  /** 0 takes any free port. */
  port: number
  /** null: no admin listener. */
  adminPort: number | null
  dataDir: string
  /** null: the embedded PostgreSQL in `dataDir`. */
  databaseUrl: string | null
  /** Connections at most. */
  databasePool: number
  /** Where clients reach this server, without a trailing slash; null: not known. */
  publicUrl: string | null
  /** 32 bytes; null: made and kept in `dataDir`. */
  secretKey: Uint8Array | null
  /** Proxies in front whose X-Forwarded-For entries are believed. */
  trustProxy: number
  /** Requests a minute of an organization. */
  rateLimits: Record<Plan, number>
  webhookRetryDelaysS: readonly number[]
  webhookTimeoutMs: number
  webhookConcurrency: number
  webhookEndpointConcurrency: number
  webhookAllowHttp: boolean
  webhookAllowCidrs: readonly string[]
  webhookHeaderPrefix: string
  webhookMaxEndpoints: number
  storeContent: boolean
  /** Those of the operator's file, which win over those built in; null: no file. */
  modelPrices: PriceOverrides | null
  retentionDeliveriesDays: number
  /** 0: kept for ever. */
  retentionAuditDays: number
  logLevel: LogLevel
  logFormat: LogFormat
}

/** Connections of the pool that the embedded server takes; it has some more for the worker and commands. */
export const MAX_EMBEDDED_POOL = 40

type Environment = Record<string, string | undefined>

/** Why a value is wrong; the text never repeats the value, which may be a secret. */
class Refusal {
  constructor(readonly reason: string) {}
}

type Read<Value> = (text: string) => Value | Refusal

const integer =
  (minimum: number, maximum: number): Read<number> =>
  (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    return value >= minimum && value <= maximum
      ? value
      : new Refusal(`must be an integer from ${minimum} to ${maximum}`)
  }

const oneOf =
  <Value extends string>(values: readonly Value[]): Read<Value> =>
  (text) =>
    values.find((value) => value === text) ?? new Refusal(`must be one of ${values.join(', ')}`)

const matching =
  (pattern: RegExp, reason: string): Read<string> =>
  (text) =>
    pattern.test(text) ? text : new Refusal(reason)

const boolean: Read<boolean> = (text) => {
  if (/^(true|1|yes|on)$/i.test(text)) return true
  return /^(false|0|no|off)$/i.test(text) ? false : new Refusal('must be true or false')
}

const integers =
  (item: Read<number>, minItems: number, maxItems: number, reason: string): Read<number[]> =>
  (text) => {
    const values = text.split(',').map((part) => item(part.trim()))
    const good = values.filter((value) => typeof value === 'number')
    const right = good.length === values.length && good.length >= minItems && good.length <= maxItems
    return right ? good : new Refusal(reason)
  }

const url =
  (protocols: string[], reason: string): Read<string> =>
  (text) => {
    const parsed = URL.canParse(text) ? new URL(text) : null
    return parsed !== null && protocols.includes(parsed.protocol) && parsed.hostname !== ''
      ? text
      : new Refusal(reason)
  }

// A socket directory makes the URL's host empty (postgres:///name?host=/run/postgresql), so only its form is looked at.
const databaseUrl = matching(/^postgres(ql)?:\/\/\S+$/, 'must be a URL that begins with postgres://')

const publicUrl: Read<string> = (text) => {
  const value = url(['http:', 'https:'], 'must be an absolute http or https URL')(text)
  return value instanceof Refusal ? value : value.replace(/\/+$/, '')
}

const secretKey: Read<Uint8Array> = (text) => {
  const reason = new Refusal('must be 32 bytes in base64 (openssl rand -base64 32)')
  if (!/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) return reason
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === 32 ? new Uint8Array(bytes) : reason
}

const rateLimits: Read<Record<Plan, number>> = (text) => {
  const reason = `must be ${PLANS.length} integers from 1 to 1000000, for ${PLANS.join(', ')}`
  const values = integers(integer(1, 1_000_000), PLANS.length, PLANS.length, reason)(text)
  if (values instanceof Refusal) return values
  const [pro = 0, team = 0, enterprise = 0] = values
  return { cloud_pro: pro, cloud_team: team, cloud_enterprise: enterprise }
}

const retryDelays = integers(
  integer(0, 604_800),
  1,
  20,
  'must be 1 to 20 delays in seconds, each an integer from 0 to 604800',
)

function isCidr(text: string): boolean {
  const match = /^([0-9a-fA-F.:]+)\/(\d{1,3})$/.exec(text)
  const [, address = '', bits = ''] = match ?? []
  if (address.includes(':')) return URL.canParse(`http://[${address}]/`) && Number(bits) <= 128
  return /^(\d{1,3}\.){3}\d{1,3}$/.test(address) && URL.canParse(`http://${address}/`) && Number(bits) <= 32
}

const cidrs: Read<string[]> = (text) => {
  const values = text.split(',').map((part) => part.trim())
  return values.every(isCidr)
    ? values
    : new Refusal('must be networks such as 10.0.0.0/8, separated by commas')
}

/** Where the data lies unless DATA_DIR says otherwise. */
export function defaultDataDir(env: Environment): string {
  if (process.getuid?.() === 0) return '/var/lib/cloud-analytics'
  return join(env.XDG_DATA_HOME || join(home(), '.local', 'share'), 'cloud-analytics')
}

/** A container's uid may have no passwd entry; then there is no home, and DATA_DIR has to be given. */
function home(): string {
  try {
    return homedir()
  } catch {
    return '/nonexistent'
  }
}

// read now, not when something is first priced: a wrong file must be known at the start
const modelPrices: Read<PriceOverrides> = (file) => {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    return new Refusal(`cannot be read (${codeOf(error) ?? 'unknown error'})`)
  }
  try {
    return parsePriceOverrides(text)
  } catch (error) {
    return new Refusal(`is no file of prices: ${error instanceof Error ? error.message : error}`)
  }
}

const path = matching(/^[^\0]+$/, 'must be a path')

/** Names of all settings. */
export const SETTINGS = [
  'HOST',
  'PORT',
  'ADMIN_PORT',
  'DATA_DIR',
  'DATABASE_URL',
  'DATABASE_POOL',
  'PUBLIC_URL',
  'SECRET_KEY',
  'TRUST_PROXY',
  'RATE_LIMITS',
  'WEBHOOK_RETRY_DELAYS',
  'WEBHOOK_TIMEOUT_MS',
  'WEBHOOK_CONCURRENCY',
  'WEBHOOK_ENDPOINT_CONCURRENCY',
  'WEBHOOK_ALLOW_HTTP',
  'WEBHOOK_ALLOW_CIDRS',
  'WEBHOOK_HEADER_PREFIX',
  'WEBHOOK_MAX_ENDPOINTS',
  'STORE_CONTENT',
  'MODEL_PRICES',
  'RETENTION_DELIVERIES_DAYS',
  'RETENTION_AUDIT_DAYS',
  'LOG_LEVEL',
  'LOG_FORMAT',
] as const
export type SettingName = (typeof SETTINGS)[number]

/** The command-line flag of a setting. */
export const flagOf = (name: SettingName): string => `--${name.toLowerCase().replaceAll('_', '-')}`

/**
 * The settings: `flags` (by setting name) before `env` before the defaults; an empty text counts as not given.
 * Throws one OperatorError with exit code 2 that lists every wrong one.
 */
export function loadConfig(env: Environment, flags: Partial<Record<SettingName, string>> = {}): Config {
  const problems: string[] = []
  const setting = <Value, Fallback>(name: SettingName, read: Read<Value>, fallback: Fallback) => {
    const flag = flags[name]
    const text = (flag ?? env[name] ?? '').trim()
    if (text === '') {
      if (flag !== undefined) problems.push(`${flagOf(name)} is empty`)
      return fallback
    }
    const value = read(text)
    if (!(value instanceof Refusal)) return value
    problems.push(`${flag === undefined ? name : flagOf(name)} ${value.reason}`)
    return fallback
  }
  const config: Config = {
    host: setting('HOST', matching(/^[A-Za-z0-9.:%_-]+$/, 'must be a host name or an address'), '127.0.0.1'),
    port: setting('PORT', integer(0, 65_535), 8080),
    adminPort: setting('ADMIN_PORT', integer(0, 65_535), null),
    dataDir: setting('DATA_DIR', path, defaultDataDir(env)),
    databaseUrl: setting('DATABASE_URL', databaseUrl, null),
    databasePool: setting('DATABASE_POOL', integer(1, 1_000), 10),
    publicUrl: setting('PUBLIC_URL', publicUrl, null),
    secretKey: setting('SECRET_KEY', secretKey, null),
    trustProxy: setting('TRUST_PROXY', integer(0, 20), 0),
    rateLimits: setting('RATE_LIMITS', rateLimits, {
      cloud_pro: 100,
      cloud_team: 500,
      cloud_enterprise: 2000,
    }),
    webhookRetryDelaysS: setting('WEBHOOK_RETRY_DELAYS', retryDelays, [60, 300, 1800]),
    webhookTimeoutMs: setting('WEBHOOK_TIMEOUT_MS', integer(100, 120_000), 15_000),
    webhookConcurrency: setting('WEBHOOK_CONCURRENCY', integer(1, 10_000), 64),
    webhookEndpointConcurrency: setting('WEBHOOK_ENDPOINT_CONCURRENCY', integer(1, 1_000), 4),
    webhookAllowHttp: setting('WEBHOOK_ALLOW_HTTP', boolean, false),
    webhookAllowCidrs: setting('WEBHOOK_ALLOW_CIDRS', cidrs, []),
    webhookHeaderPrefix: setting(
      'WEBHOOK_HEADER_PREFIX',
      matching(
        /^[A-Za-z][A-Za-z0-9-]{0,62}[A-Za-z0-9]$/,
        'must be the beginning of a header name, as X-Service',
      ),
      'X-Service',
    ),
    webhookMaxEndpoints: setting('WEBHOOK_MAX_ENDPOINTS', integer(1, 10_000), 20),
    storeContent: setting('STORE_CONTENT', boolean, false),
    modelPrices: setting('MODEL_PRICES', modelPrices, null),
    retentionDeliveriesDays: setting('RETENTION_DELIVERIES_DAYS', integer(1, 36_500), 30),
    retentionAuditDays: setting('RETENTION_AUDIT_DAYS', integer(0, 36_500), 0),
    logLevel: setting('LOG_LEVEL', oneOf(LOG_LEVELS), 'info'),
    logFormat: setting('LOG_FORMAT', oneOf(['pretty', 'json']), process.stderr.isTTY ? 'pretty' : 'json'),
  }
  const isEmbedded = (flags.DATABASE_URL ?? env.DATABASE_URL ?? '').trim() === ''
  if (isEmbedded && config.databasePool > MAX_EMBEDDED_POOL) {
    const name = flags.DATABASE_POOL === undefined ? 'DATABASE_POOL' : flagOf('DATABASE_POOL')
    problems.push(`${name} must be an integer from 1 to ${MAX_EMBEDDED_POOL} unless DATABASE_URL is set`)
  }
  if (problems.length > 0) throw new OperatorError(`wrong settings:\n  ${problems.join('\n  ')}`, 2)
  return config
}
