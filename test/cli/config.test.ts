import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../src/base/errors.ts'
import { settingOptions } from '../../src/cli/command/setting-options.ts'
import { loadConfig, SETTINGS } from '../../src/config.ts'
import { scratchFolder } from '../support/at-end.ts'

const refusal = (env: Record<string, string>, flags = {}) => {
  try {
    loadConfig(env, flags)
  } catch (error) {
    if (error instanceof OperatorError) return error
    throw error
  }
  throw new Error('was accepted')
}

test('without settings the defaults hold', () => {
  expect(loadConfig({})).toMatchObject({
    host: '127.0.0.1',
    port: 8080,
    adminPort: null,
    adminHost: '127.0.0.1',
    databaseUrl: null,
    databasePool: 10,
    publicUrl: null,
    secretKey: null,
    trustProxy: 0,
    rateLimits: { cloud_pro: 100, cloud_team: 500, cloud_enterprise: 2000 },
    webhookRetryDelaysS: [60, 300, 1800],
    webhookTimeoutMs: 15_000,
    webhookConcurrency: 64,
    webhookEndpointConcurrency: 4,
    webhookAllowHttp: false,
    webhookAllowCidrs: [],
    webhookHeaderPrefix: 'X-Service',
    webhookMaxEndpoints: 100,
    storeContent: false,
    modelPrices: null,
    retentionDeliveriesDays: 30,
    retentionAuditDays: 0,
    backupEveryS: null,
    backupKeep: 14,
    backupDir: null,
    logLevel: 'info',
  })
})

test('the data directory is the system’s for root, else the user’s', () => {
  const dir = loadConfig({ XDG_DATA_HOME: '/tmp/xdg' }).dataDir
  expect(dir).toBe(process.getuid?.() === 0 ? '/var/lib/cloud-analytics' : '/tmp/xdg/cloud-analytics')
  expect(loadConfig({ DATA_DIR: '/srv/ca' }).dataDir).toBe('/srv/ca')
})

test('flags win over the environment, empty variables count as unset', () => {
  expect(loadConfig({ PORT: '1000', HOST: '' }, { PORT: '2000' })).toMatchObject({
    port: 2000,
    host: '127.0.0.1',
  })
})

test('values are read as what they are', () => {
  const config = loadConfig({
    RATE_LIMITS: '1, 2,3',
    WEBHOOK_ALLOW_CIDRS:
      '10.0.0.0/8, fd00::/8, 10.1.2.3/32, 192.168.64.0/18, ::/0, fe80::/10, ::ffff:10.0.0.0/104',
    WEBHOOK_RETRY_DELAYS: '0,1',
    STORE_CONTENT: 'TRUE',
    PUBLIC_URL: 'https://a.example/base//',
    SECRET_KEY: Buffer.alloc(32, 7).toString('base64'),
    DATABASE_URL: 'postgres:///db?host=/run/postgresql',
    BACKUP_EVERY: '24h',
  })
  expect(config).toMatchObject({
    rateLimits: { cloud_pro: 1, cloud_team: 2, cloud_enterprise: 3 },
    webhookAllowCidrs: [
      '10.0.0.0/8',
      'fd00::/8',
      '10.1.2.3/32',
      '192.168.64.0/18',
      '::/0',
      'fe80::/10',
      '::ffff:10.0.0.0/104',
    ],
    webhookRetryDelaysS: [0, 1],
    storeContent: true,
    publicUrl: 'https://a.example/base',
    secretKey: new Uint8Array(32).fill(7),
    databaseUrl: 'postgres:///db?host=/run/postgresql',
    backupEveryS: 86_400,
  })
  for (const [text, seconds] of [
    ['1s', 1],
    ['90m', 5_400],
    ['366d', 366 * 86_400],
  ] as const) {
    expect(loadConfig({ BACKUP_EVERY: text }).backupEveryS).toBe(seconds)
  }
})

const WRONG: Record<string, string[]> = {
  HOST: ['a b', 'http://a'],
  PORT: ['x', '-1', '65536', '1e3', '80.5'],
  ADMIN_PORT: ['no'],
  ADMIN_HOST: ['a b'],
  DATABASE_URL: ['mysql://a/b', 'localhost'],
  DATABASE_POOL: ['0'],
  PUBLIC_URL: ['a.example', 'ftp://a'],
  SECRET_KEY: ['short', 'A'.repeat(44)],
  TRUST_PROXY: ['-1', 'yes'],
  PASSWORDS: ['maybe', 'true'],
  OIDC_ISSUER: ['http://id.example.com', 'id'],
  OIDC_CLIENT_ID: ['a\nb'],
  OIDC_CLIENT_SECRET: ['a\nb'],
  OIDC_SCOPES: ['a\nb'],
  OIDC_ORGANIZATION: ['a\nb'],
  OIDC_ROLE_CLAIM: ['a\nb', 'a..b', '"a', '.a'],
  OIDC_TEAM_CLAIM: ['a..b', '"a'],
  OIDC_ROLES: ['engineering', 'engineering=boss', '=admin', '{"a": "boss"}', '{', '{}'],
  OIDC_DEFAULT_ROLE: ['boss'],
  OIDC_REQUIRE_VERIFIED_EMAIL: ['perhaps'],
  OIDC_ALLOWED_DOMAINS: ['@example.com', 'example.com,', 'a b'],
  RATE_LIMITS: ['100', '1,2', '1,2,3,4', '0,1,2', 'a,b,c', '1,2,'],
  WEBHOOK_RETRY_DELAYS: ['60;300', '-1', '60,'],
  WEBHOOK_TIMEOUT_MS: ['0'],
  WEBHOOK_CONCURRENCY: ['0'],
  WEBHOOK_ENDPOINT_CONCURRENCY: ['none'],
  WEBHOOK_ALLOW_HTTP: ['maybe'],
  WEBHOOK_ALLOW_CIDRS: [
    '10.0.0.0',
    '10.0.0.0/33',
    '300.0.0.0/8',
    'fd00::/129',
    'x/8',
    '010.0.0.0/8',
    '1.2.3.4/0',
    '10.0.0.1/8',
    '10.0.0.0/08',
    'fd00::1/8',
    '2001:db8::/16',
  ],
  WEBHOOK_HEADER_PREFIX: ['X Service', '-X', 'X-'],
  WEBHOOK_MAX_ENDPOINTS: ['0'],
  CACHE_BYTES: ['-1', '64MB', '1.5'],
  STORE_CONTENT: ['2'],
  RETENTION_DELIVERIES_DAYS: ['0'],
  RETENTION_AUDIT_DAYS: ['-1'],
  BACKUP_EVERY: ['24', '0h', '-1h', '1w', '367d', 'daily'],
  BACKUP_KEEP: ['0', 'all'],
  LOG_LEVEL: ['verbose', 'INFO'],
  LOG_FORMAT: ['xml'],
}

test.each(Object.entries(WRONG).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
  '%s=%s is refused by name',
  (name, value) => {
    const error = refusal({ [name]: value })
    expect(error.exitCode).toBe(2)
    expect(error.message).toContain(`\n  ${name} must be`)
  },
)

test('all wrong settings are listed at once, flags by their flag, and no value is repeated', () => {
  const error = refusal(
    {
      PORT: 'x',
      LOG_LEVEL: 'loud',
      SECRET_KEY: 'my-secret-value',
      DATABASE_URL: 'postgresql//u:hunter2@h/d',
    },
    { DATABASE_POOL: 'many', HOST: '' },
  )
  for (const name of [
    'PORT',
    'LOG_LEVEL',
    'SECRET_KEY',
    'DATABASE_URL',
    '--database-pool',
    '--host is empty',
  ]) {
    expect(error.message).toContain(name)
  }
  expect(error.message).not.toMatch(/my-secret-value|hunter2|loud|many/)
})

test.each([
  [undefined, 'cannot be read (ENOENT)'],
  ['{"m":{"input":1}}', 'is no file of prices: "m" needs input and output'],
])('MODEL_PRICES is read with the other settings: %s', async (text, reason) => {
  const folder = scratchFolder()
  const file = join(folder.path, 'prices.json')
  if (text !== undefined) await Bun.write(file, text)
  const error = refusal({ PORT: 'x', MODEL_PRICES: file })
  folder.remove()
  expect(error.message).toContain('\n  PORT must be')
  expect(error.message).toContain(`\n  MODEL_PRICES ${reason}`)
})

test('more connections than the embedded database takes need a DATABASE_URL', () => {
  expect(refusal({ DATABASE_POOL: '41' }).message).toContain(
    '\n  DATABASE_POOL must be an integer from 1 to 40 unless DATABASE_URL is set',
  )
  expect(refusal({}, { DATABASE_POOL: '1000' }).message).toContain('\n  --database-pool must be')
  expect(loadConfig({ DATABASE_POOL: '40' }).databasePool).toBe(40)
  const elsewhere = { DATABASE_URL: 'postgres://a/b' }
  expect(loadConfig({ ...elsewhere, DATABASE_POOL: '1000' }).databasePool).toBe(1000)
  expect(loadConfig({ DATABASE_POOL: '41' }, elsewhere).databasePool).toBe(41)
})

test('every setting is read', () => {
  expect(SETTINGS.map(({ name }) => name).filter((name) => !(name in WRONG))).toEqual([
    'DATA_DIR',
    'MODEL_PRICES',
    'BACKUP_DIR',
  ])
})

test('the value of each secret may be in a file, as the help says', () => {
  const folder = scratchFolder()
  const file = join(folder.path, 'secret')
  writeFileSync(file, 'hush\n')
  const parsed = settingOptions().flatMap(({ long, parseArg }) =>
    parseArg === undefined ? [] : [[long, parseArg(`@${file}`, undefined)]],
  )
  folder.remove()
  expect(parsed).toEqual(
    ['--database-url', '--oidc-client-secret', '--secret-key'].map((flag) => [flag, 'hush']),
  )
})
