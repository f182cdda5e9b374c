// The settings of all commands: variable, flag, help and parser of each; with the plans and roles that there are.

import { homedir } from 'node:os'
import { join } from 'node:path'
import { messageOf, OperatorError } from './base/errors.ts'
import { LOG_FORMATS, LOG_LEVELS } from './base/log.ts'
import { type PriceFile, readPriceFile } from './base/model-prices.ts'
import {
  boolean,
  claimPath,
  domains,
  duration,
  httpUrl,
  Invalid,
  integer,
  integers,
  key32,
  mapTo,
  matching,
  networks,
  oneOf,
  type Parser,
} from './base/setting-parsers.ts'

/** The plans, from the smallest. */
export const PLANS = ['cloud_pro', 'cloud_team', 'cloud_enterprise'] as const
export type Plan = (typeof PLANS)[number]

/** Roles of members, from the one with the most rights. */
export const ROLES = ['owner', 'admin', 'developer', 'auditor'] as const
export type Role = (typeof ROLES)[number]

/** The largest DATABASE_POOL with the embedded server, which has more for the worker and commands. */
export const MAX_EMBEDDED_POOL = 40

type Environment = Record<string, string | undefined>

interface Setting<Name extends string, Value> {
  /** The environment variable; the flag follows from it: `--data-dir` for DATA_DIR. */
  name: Name
  parse: Parser<Value>
  default: (env: Environment) => Value
  help: string
}

/** Declares a setting. A default given as text is parsed like a value and shown by `--help`; one of a function is not. */
function setting<const Name extends string, Value, Fallback = Value>(
  name: Name,
  parse: Parser<Value>,
  fallback: string | ((env: Environment) => Fallback),
  help: string,
): Setting<Name, Value | Fallback> {
  if (typeof fallback === 'function') return { name, parse, default: fallback, help }
  const value = parse(fallback)
  if (value instanceof Invalid) throw new TypeError(`the default of ${name} ${value.reason}`)
  return { name, parse, default: () => value, help: `${help} (${fallback})` }
}

const none = () => null

const port = integer(0, 65_535)
const hostName = matching(/^[A-Za-z0-9.:%_-]+$/, 'must be a host name or an address')

// A socket directory leaves the URL's host empty (postgres:///name?host=/run/postgresql), so only the form is
// checked.
const databaseUrl = matching(/^postgres(ql)?:\/\/\S+$/, 'must be a URL that begins with postgres://')

const rateLimits: Parser<Record<Plan, number>> = (text) => {
  const reason = `must be ${PLANS.length} integers from 1 to 1000000, for ${PLANS.join(', ')}`
  const values = integers(integer(1, 1_000_000), PLANS.length, PLANS.length, reason)(text)
  if (values instanceof Invalid) return values
  const [pro = 0, team = 0, enterprise = 0] = values
  return { cloud_pro: pro, cloud_team: team, cloud_enterprise: enterprise }
}

const retryDelays = integers(
  integer(0, 604_800),
  1,
  20,
  'must be 1 to 20 delays in seconds, each an integer from 0 to 604800',
)

const onOff: Parser<boolean> = (text) =>
  text === 'on' || text === 'off' ? text === 'on' : new Invalid('must be on or off')

const headerPrefix = matching(
  /^[A-Za-z][A-Za-z0-9-]{0,62}[A-Za-z0-9]$/,
  'must be the beginning of a header name, as X-Service',
)

const text = matching(/^[^\0\r\n]{1,2000}$/, 'must be one line of text')

/** The issuer's URL is kept as it is written, since some end with a slash. Plain http is allowed on this machine only. */
const issuerUrl: Parser<string> = (value) => {
  const url = URL.canParse(value) ? new URL(value) : undefined
  const isLocal = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url?.hostname ?? '')
  return url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal)
    ? value
    : new Invalid('must be an https URL, or one of http on this machine')
}

// The file is read at the start, so that an invalid one is an error before the first session is priced.
const modelPrices: Parser<PriceFile> = (file) => {
  try {
    return { file, prices: readPriceFile(file) }
  } catch (error) {
    return new Invalid(messageOf(error))
  }
}

export function defaultDataDir(env: Environment): string {
  if (process.getuid?.() === 0) return '/var/lib/cloud-analytics'
  return join(env.XDG_DATA_HOME || join(home(), '.local', 'share'), 'cloud-analytics')
}

/** A container's uid may have no passwd entry, hence no home directory: then DATA_DIR has to be set. */
function home(): string {
  try {
    return homedir()
  } catch {
    return '/nonexistent'
  }
}

/** The settings of the identity provider by which people sign in. Claims are names, each inside of the one before. */
// biome-ignore format: one line for each setting
const OIDC = {
  /** null: nobody signs in so. */
  issuer: setting('OIDC_ISSUER', issuerUrl, none, 'identity provider (OpenID Connect) by which people sign in'),
  clientId: setting('OIDC_CLIENT_ID', text, none, 'this server’s client id at OIDC_ISSUER'),
  /** null: a public client. */
  clientSecret: setting('OIDC_CLIENT_SECRET', text, none, 'its secret'),
  scopes: setting('OIDC_SCOPES', text, 'openid email profile', 'what is asked for at sign-in'),
  organization: setting('OIDC_ORGANIZATION', text, none, 'slug of the organization of who signs in so'),
  roleClaim: setting('OIDC_ROLE_CLAIM', claimPath, 'groups', 'claim that OIDC_ROLES are looked up by, also inside of others, as realm_access.roles; a name with dots in quotes'),
  /** null: teams are set here. */
  teamClaim: setting('OIDC_TEAM_CLAIM', claimPath, none, 'claim that names the team of who signs in, as OIDC_ROLE_CLAIM (none: it stays)'),
  roles: setting('OIDC_ROLES', mapTo(ROLES), () => new Map<string, Role>(), 'roles by values of the claim, such as analytics-admins=admin,engineering=developer or a JSON object of them: the highest counts (none)'),
  defaultRole: setting('OIDC_DEFAULT_ROLE', oneOf(ROLES), none, 'role without a match (none: nobody comes in without)'),
  requireVerifiedEmail: setting('OIDC_REQUIRE_VERIFIED_EMAIL', boolean, 'true', 'false for providers that do not say whether an address is verified, as Microsoft Entra'),
  allowedDomains: setting('OIDC_ALLOWED_DOMAINS', domains, (): string[] => [], 'domains of who may sign in so, by `hd`, else by the address (any)'),
}

/** Every setting, in the order of `--help`: variable, parser, default, help text. */
// biome-ignore format: one line for each setting
const TABLE = {
  host: setting('HOST', hostName, '127.0.0.1', 'address to listen on'),
  port: setting('PORT', port, '8080', 'port to listen on, 0 for any free one'),
  /** null: no admin listener. */
  adminPort: setting('ADMIN_PORT', port, none, 'port of the admin listener, which answers /metrics, 0 for any free one (off)'),
  adminHost: setting('ADMIN_HOST', hostName, '127.0.0.1', 'address of the admin listener, which needs no key'),
  dataDir: setting('DATA_DIR', matching(/^[^\0]+$/, 'must be a path'), defaultDataDir, 'folder of the embedded database and of what is kept'),
  /** null: the embedded PostgreSQL in `dataDir`. */
  databaseUrl: setting('DATABASE_URL', databaseUrl, none, 'a PostgreSQL 15 or newer instead of the embedded one'),
  databasePool: setting('DATABASE_POOL', integer(1, 1_000), '10', 'database connections for reads; one organization has half of them at most'),
  /** Without a trailing slash; null: not known. */
  publicUrl: setting('PUBLIC_URL', httpUrl, none, 'where clients reach this server'),
  passwords: setting('PASSWORDS', onOff, 'on', 'off: people sign in by OIDC_ISSUER alone'),
  oidc: OIDC,
  /** null: generated and kept in `dataDir`. */
  secretKey: setting('SECRET_KEY', key32, none, '32 bytes in base64 that encrypt webhook secrets'),
  trustProxy: setting('TRUST_PROXY', integer(0, 20), '0', 'proxies in front whose X-Forwarded-For is believed'),
  rateLimits: setting('RATE_LIMITS', rateLimits, '100,500,2000', `requests a minute of ${PLANS.join(', ')}`),
  webhookRetryDelaysS: setting('WEBHOOK_RETRY_DELAYS', retryDelays, '60,300,1800', 'seconds before each retry'),
  webhookTimeoutMs: setting('WEBHOOK_TIMEOUT_MS', integer(100, 120_000), '15000', 'milliseconds for one delivery'),
  webhookConcurrency: setting('WEBHOOK_CONCURRENCY', integer(1, 10_000), '64', 'deliveries at a time'),
  webhookEndpointConcurrency: setting('WEBHOOK_ENDPOINT_CONCURRENCY', integer(1, 1_000), '4', 'deliveries at a time to one endpoint'),
  webhookAllowHttp: setting('WEBHOOK_ALLOW_HTTP', boolean, 'false', 'true allows http endpoints'),
  webhookAllowCidrs: setting('WEBHOOK_ALLOW_CIDRS', networks, (): string[] => [], 'private networks that endpoints may be in (none)'),
  webhookHeaderPrefix: setting('WEBHOOK_HEADER_PREFIX', headerPrefix, 'X-Service', 'beginning of the signature headers'),
  webhookMaxEndpoints: setting('WEBHOOK_MAX_ENDPOINTS', integer(1, 10_000), '100', 'endpoints of an organization'),
  cacheBytes: setting('CACHE_BYTES', integer(0, 2 ** 40), '67108864', 'bytes of responses kept in memory, never stale; 0 keeps none'),
  storeContent: setting('STORE_CONTENT', boolean, 'false', 'true keeps prompts and answers that are sent'),
  /** The prices in the file; null: no file. */
  modelPrices: setting('MODEL_PRICES', modelPrices, none, 'JSON file of model prices that win over those built in'),
  retentionDeliveriesDays: setting('RETENTION_DELIVERIES_DAYS', integer(1, 36_500), '30', 'days that finished deliveries are kept'),
  retentionAuditDays: setting('RETENTION_AUDIT_DAYS', integer(0, 36_500), () => 0, 'days that audit entries are kept (0: for ever)'),
  /** null: `serve` makes none. */
  backupEveryS: setting('BACKUP_EVERY', duration, none, 'time between backups that serve makes, such as 24h (off)'),
  backupKeep: setting('BACKUP_KEEP', integer(1, 10_000), '14', 'backups of serve that are kept'),
  /** null: `backups` in `dataDir`. */
  backupDir: setting('BACKUP_DIR', matching(/^[^\0]+$/, 'must be a path'), none, 'folder of the backups of serve (backups in DATA_DIR)'),
  logLevel: setting('LOG_LEVEL', oneOf(LOG_LEVELS), 'info', LOG_LEVELS.join(', ')),
  logFormat: setting('LOG_FORMAT', oneOf(LOG_FORMATS), () => (process.stderr.isTTY ? 'pretty' : 'json'), 'pretty or json (pretty on a terminal)'),
}

type Values<Of extends Record<string, Setting<string, unknown>>> = {
  [Key in keyof Of]: ReturnType<Of[Key]['default']>
}
type Table = Omit<typeof TABLE, 'oidc'>

/** People sign in by this identity provider. */
export interface OidcConfig extends Values<typeof OIDC> {
  issuer: string
  clientId: string
  /** Slug. */
  organization: string
}

export interface Config extends Values<Table> {
  /** null: not set. */
  oidc: OidcConfig | null
}

/** The path that a proxy puts before ours by PUBLIC_URL: `` or `/analytics`. */
export const publicPath = ({ publicUrl }: Pick<Config, 'publicUrl'>): string =>
  publicUrl === null ? '' : new URL(publicUrl).pathname.replace(/\/+$/, '')

export type SettingName = Table[keyof Table]['name'] | (typeof OIDC)[keyof typeof OIDC]['name']

/** Every setting, without the types of their values. */
export const SETTINGS = Object.values<Setting<SettingName, unknown> | typeof OIDC>(TABLE).flatMap((entry) =>
  'parse' in entry ? [entry] : Object.values<Setting<SettingName, unknown>>(entry),
)

export const flagOf = (name: SettingName): string => `--${name.toLowerCase().replaceAll('_', '-')}`

/** Adds to `problems` what is missing beside OIDC_ISSUER. */
function checkedOidc(values: Values<typeof OIDC>, problems: string[]): OidcConfig | null {
  const { issuer, clientId, organization } = values
  if (issuer === null) return null
  if (clientId === null) problems.push('OIDC_CLIENT_ID must be set beside OIDC_ISSUER')
  if (organization === null) problems.push('OIDC_ORGANIZATION must be set beside OIDC_ISSUER')
  return { ...values, issuer, clientId: clientId ?? '', organization: organization ?? '' }
}

/**
 * Reads the settings: `flags` (by variable) come before `env`, and `env` before the defaults; an empty
 * variable counts as not set. `check` finds further problems of what is set. Throws one OperatorError with exit code 2 that
 * lists every invalid setting.
 */
export function loadConfig(
  env: Environment,
  flags: Partial<Record<SettingName, string>> = {},
  check: (config: Config) => string[] = () => [],
): Config {
  const problems: string[] = []
  const read = ({ name, parse, default: fallback }: Setting<SettingName, unknown>): unknown => {
    const flag = flags[name]
    const text = (flag ?? env[name] ?? '').trim()
    if (text === '' && flag !== undefined) problems.push(`${flagOf(name)} is empty`)
    const value = text === '' ? fallback(env) : parse(text)
    if (!(value instanceof Invalid)) return value
    problems.push(`${flag === undefined ? name : flagOf(name)} ${value.reason}`)
    return fallback(env)
  }
  const values = new Map(SETTINGS.map((entry) => [entry.name, read(entry)]))
  const settingValues = <Of extends Record<string, Setting<SettingName, unknown>>>(table: Of) =>
    Object.fromEntries(Object.entries(table).map(([key, { name }]) => [key, values.get(name)])) as Values<Of>
  const { oidc, ...others } = TABLE
  const config: Config = { ...settingValues(others), oidc: checkedOidc(settingValues(oidc), problems) }
  const isEmbedded = (flags.DATABASE_URL ?? env.DATABASE_URL ?? '').trim() === ''
  if (isEmbedded && config.databasePool > MAX_EMBEDDED_POOL) {
    const name = flags.DATABASE_POOL === undefined ? 'DATABASE_POOL' : flagOf('DATABASE_POOL')
    problems.push(`${name} must be an integer from 1 to ${MAX_EMBEDDED_POOL} unless DATABASE_URL is set`)
  }
  // a wrong URL is one of another server all the same
  problems.push(...check({ ...config, databaseUrl: isEmbedded ? null : (config.databaseUrl ?? '') }))
  if (problems.length > 0) throw new OperatorError(`wrong settings:\n  ${problems.join('\n  ')}`, 2)
  return config
}
