import { Option } from 'commander'
import { flagOf, PLANS, SETTINGS, type SettingName } from '../../config.ts'
import { LOG_LEVELS } from '../../log.ts'

const DESCRIPTIONS = {
  HOST: 'address to listen on (127.0.0.1)',
  PORT: 'port to listen on, 0 for any free one (8080)',
  ADMIN_PORT: 'port of the admin listener (off)',
  DATA_DIR: 'folder of the embedded database and of what is kept',
  DATABASE_URL: 'a PostgreSQL 15 or newer instead of the embedded one',
  DATABASE_POOL: 'database connections of the server at most (10)',
  PUBLIC_URL: 'where clients reach this server',
  SECRET_KEY: '32 bytes in base64 that encrypt webhook secrets',
  TRUST_PROXY: 'proxies in front whose X-Forwarded-For is believed (0)',
  RATE_LIMITS: `requests a minute of ${PLANS.join(', ')} (100,500,2000)`,
  WEBHOOK_RETRY_DELAYS: 'seconds before each retry (60,300,1800)',
  WEBHOOK_TIMEOUT_MS: 'milliseconds for one delivery (15000)',
  WEBHOOK_CONCURRENCY: 'deliveries at a time (64)',
  WEBHOOK_ENDPOINT_CONCURRENCY: 'deliveries at a time to one endpoint (4)',
  WEBHOOK_ALLOW_HTTP: 'true allows http endpoints (false)',
  WEBHOOK_ALLOW_CIDRS: 'private networks that endpoints may be in (none)',
  WEBHOOK_HEADER_PREFIX: 'beginning of the signature headers (X-Service)',
  WEBHOOK_MAX_ENDPOINTS: 'endpoints of an organization (20)',
  STORE_CONTENT: 'true keeps prompts and answers that are sent (false)',
  MODEL_PRICES: 'JSON file of model prices that win over those built in',
  RETENTION_DELIVERIES_DAYS: 'days that finished deliveries are kept (30)',
  RETENTION_AUDIT_DAYS: 'days that audit entries are kept (0: for ever)',
  LOG_LEVEL: `${LOG_LEVELS.join(', ')} (info)`,
  LOG_FORMAT: 'pretty or json (pretty on a terminal)',
} satisfies Record<SettingName, string>

/** Those that the help of every command shows. */
const COMMON: readonly SettingName[] = ['DATA_DIR', 'DATABASE_URL', 'LOG_LEVEL', 'LOG_FORMAT']

/** Accepted and checked, so that settings can be written down once, but nothing asks for them yet. */
const LATER = /^ADMIN_PORT$/

const descriptionOf = (name: SettingName): string =>
  DESCRIPTIONS[name] + (LATER.test(name) ? ' (for a later version)' : '')

/** A flag for each setting. */
export const settingOptions = (): Option[] =>
  SETTINGS.map((name) =>
    new Option(`${flagOf(name)} <value>`, descriptionOf(name)).helpGroup(
      'Settings, each also an environment variable:',
    ),
  )

/** True for the options of the program that the help of each command repeats. */
export const isCommon = (option: Option): boolean =>
  option.long === '--json' || COMMON.some((name) => flagOf(name) === option.long)
