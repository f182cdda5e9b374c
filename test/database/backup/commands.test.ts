import { describe, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TRAILER_BYTES, trailerOf } from '../../../src/database/backup/format.ts'
import { testsFolder } from '../../support/at-end.ts'
import { editBackup } from '../../support/backups.ts'
import { eventually, run, runJson, serving, testsServer } from '../../support/cli.ts'
import { newDataFolder } from '../../support/data-folder.ts'

// backup, backup verify and restore as an operator runs them, and the backups that serve makes.

// each starts several processes, on a machine that may be busy
setDefaultTimeout(180_000)
const SESSIONS = 500
const folder = testsFolder()
const at = (name: string) => join(folder.path, name)
const env = { DATA_DIR: at('data'), WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8' }
const file = at('backup.zst')

const PATHS = [
  '/v1/sessions?per_page=100',
  '/v1/quality',
  '/v1/quality/trend',
  '/v1/cost?group_by=month',
  '/v1/cost/trend',
  '/v1/security',
  '/v1/security/heatmap',
  '/v1/team',
  '/v1/team/expertise',
  '/v1/risk',
  '/v1/audit?per_page=100',
  '/v1/webhooks',
]

/** Status and body of every path, with a moment to compare: `days` of some end today. */
async function responses(url: string): Promise<string[]> {
  const texts: string[] = []
  for (const path of PATHS) {
    const response = await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })
    texts.push(`${path} ${response.status} ${await response.text()}`)
  }
  return texts
}

const textOf = async (path: string): Promise<string> =>
  new TextDecoder().decode(await Bun.zstdDecompress(readFileSync(path).subarray(0, -TRAILER_BYTES)))

await newDataFolder(env.DATA_DIR)
await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team'], env)
const counts = ['--sessions', String(SESSIONS), '--audit', '300', '--commits', '300', '--risk', '100']
await runJson(['seed', '--org', 'acme', ...counts], env)
const made = await runJson(
  ['key', 'create', '--org', 'acme', '--name', 'first', '--scopes', 'read,write,webhooks'],
  env,
)
const key = made.key
const server = await testsServer('serve', env)
const created = await fetch(`${server.url}/v1/webhooks`, {
  method: 'POST',
  headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
  body: JSON.stringify({ url: 'http://127.0.0.1:9/hook', events: ['session.completed'] }),
})
expect(created.status).toBe(201)
await runJson(['backup', file], env)

describe('beside a server', () => {
  test('a backup is made, and its restored copy is served alike', async () => {
    const target = at('beside.zst')
    const { code, stdout, stderr } = await run(['backup', target, '--with-secret-key'], env)
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/rows of \d+ tables, \d+ bytes, with secret\.key/),
    ])
    // the command shows its progress where it takes long
    expect(stderr.split('\n').filter((line) => line !== '' && !line.startsWith('backing up: '))).toEqual([])
    const before = await responses(server.url)
    expect(before.filter((text) => / 200 /.test(text))).toHaveLength(PATHS.length)

    const restored = { ...env, DATA_DIR: at('restored') }
    const result = await runJson(['restore', target, '--trust', '--with-secret-key'], restored)
    expect(result).toMatchObject({ file: target, applied: [], secret_key: true, rows: expect.any(Number) })
    // the key inside says nothing of who made the file
    expect(result.signature).toBe('signed by another key')
    expect(readFileSync(at('restored/secret.key'))).toEqual(readFileSync(at('data/secret.key')))
    expect(statSync(at('restored/secret.key')).mode & 0o777).toBe(0o600)
    expect(readdirSync(at('restored')).filter((name) => /restore/.test(name))).toEqual([])
    const copy = await serving('serve', restored)
    expect(await responses(copy.url)).toEqual(before)
    await copy.end()
    const doctor = await runJson(['doctor'], restored)
    expect(doctor.checks).toContainEqual(expect.objectContaining({ name: 'rollups', status: 'ok' }))
  })

  test('a backup says what it has, and that secret.key is not inside', async () => {
    const target = at('said.zst')
    const { code, stdout, stderr } = await run(['backup', target, '--json'], env)
    expect([code, stderr]).toEqual([0, expect.stringContaining('secret.key is not inside')])
    const said = JSON.parse(stdout)
    expect(said).toMatchObject({
      file: target,
      secret_key: false,
      bytes: statSync(target).size,
      postgres: expect.stringMatching(/^\d+/),
      program: expect.any(String),
      schema: expect.any(Number),
      tables: expect.arrayContaining([
        {
          name: 'sessions',
          rows: SESSIONS,
          bytes: expect.any(Number),
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
        },
      ]),
    })
    const key = readFileSync(at('data/secret.key'), 'utf8').trim()
    expect(
      new TextDecoder().decode(await Bun.zstdDecompress(readFileSync(target).subarray(0, -40))),
    ).not.toContain(key)
  })

  test('zstd and psql can read it', async () => {
    const text = await textOf(file)
    expect(text).toStartWith('-- cloud-analytics backup {"format":1,')
    expect(text).toMatch(/^copy "sessions" \("org_id", .*\) from stdin;$/m)
  })
})

describe('backup verify', () => {
  test('restores and checks a backup, and leaves nothing', async () => {
    const scratch = at('tmp')
    mkdirSync(scratch)
    const result = await runJson(['backup', 'verify', file], { ...env, TMPDIR: scratch })
    expect(result).toMatchObject({
      ok: true,
      file,
      secret_key: false,
      signature: "signed by this server's key",
    })
    expect(result).not.toHaveProperty('api_keys')
    expect(result.checks).toMatchObject([
      { name: 'database', status: 'ok' },
      { name: 'migrations', status: 'ok' },
      { name: 'rollups', status: 'ok' },
      { name: 'secret.key', status: 'warn' },
    ])
    expect(readdirSync(scratch)).toEqual([])
  })

  test('finds one changed byte, one lost row, and rollups that do not agree', async () => {
    const copy = at('copy.zst')
    const bytes = readFileSync(file)
    bytes.writeUInt8((bytes[5_000] ?? 0) ^ 1, 5_000)
    writeFileSync(copy, bytes)
    const changed = await run(['backup', 'verify', copy], env)
    expect([changed.code, changed.stderr]).toEqual([1, expect.stringContaining('damaged or cut off')])

    writeFileSync(copy, readFileSync(file))
    await editBackup(copy, (text) => text.replace(/(\ncopy "sessions" [^\n]*\n)[^\n]*\n/, '$1'))
    const lost = await run(['backup', 'verify', copy], env)
    expect([lost.code, lost.stderr]).toEqual([
      1,
      expect.stringContaining(`sessions has ${SESSIONS - 1} rows instead of`),
    ])
  })
})

describe('a backup that this server did not sign', () => {
  const INTRUDER = 'zzzzzzzz'
  /** The backup with another API key, and sums that hold: SHA-256 of a key is public knowledge. */
  async function tampered(name: string, unsigned: boolean): Promise<string> {
    const copy = at(name)
    writeFileSync(copy, readFileSync(file))
    const edit = (text: string) => {
      const [whole = '', head = '', row = ''] = /(copy "api_keys" [^\n]*\n)([^\n]*\n)/.exec(text) ?? []
      const [, ...fields] = row.split('\t')
      const rows = row + [INTRUDER, ...fields].join('\t')
      const sum = {
        name: 'api_keys',
        rows: 2,
        bytes: Buffer.byteLength(rows),
        sha256: new Bun.CryptoHasher('sha256').update(rows).digest('hex'),
      }
      return text
        .replace(whole, () => head + rows)
        .replace(/\{"name":"api_keys"[^}]*\}/, () => JSON.stringify(sum))
    }
    await editBackup(copy, edit, unsigned)
    return copy
  }
  const keys = [
    { id: expect.any(String), name: 'first', scopes: ['read', 'write', 'webhooks'], organization: 'acme' },
    { id: INTRUDER, name: 'first', scopes: ['read', 'write', 'webhooks'], organization: 'acme' },
  ]

  test.each([
    ['signed by another key', false],
    ['unsigned', true],
  ])('%s: verify lists its API keys, restore takes it only with --trust', async (signature, unsigned) => {
    const copy = await tampered(`${signature}.zst`, unsigned)
    const told = await run(['backup', 'verify', copy], env)
    expect(told.code).toBe(0)
    expect(told.stdout).toMatch(new RegExp(`${INTRUDER} +first +read,write,webhooks +acme`))
    expect(told.stdout).toContain(`, ${signature}: `)

    // the server's key is at hand, or there is none
    const withKey = {
      ...env,
      DATA_DIR: at(`${signature}-with`),
      SECRET_KEY: readFileSync(at('data/secret.key'), 'utf8').trim(),
    }
    const without = { ...env, DATA_DIR: at(`${signature}-without`), SECRET_KEY: '' }
    for (const target of [withKey, without]) {
      const refused = await run(['restore', copy], target)
      expect([refused.code, refused.stderr]).toEqual([
        1,
        expect.stringMatching(new RegExp(`is ${signature}: .*--trust`)),
      ])
      expect(existsSync(target.DATA_DIR)).toBe(false)
    }
    // it restores the one with the key at hand, the other without it
    const restored = await runJson(['restore', copy, '--trust'], unsigned ? without : withKey)
    expect(restored).toMatchObject({ signature, api_keys: keys })
  })

  test('verify --json lists its API keys too, without their hashes', async () => {
    const verified = await runJson(['backup', 'verify', await tampered('json.zst', true)], env)
    expect(verified).toMatchObject({ ok: true, signature: 'unsigned' })
    expect(verified.api_keys).toEqual(keys)
    expect(JSON.stringify(verified)).not.toContain('key_hash')
  })

  test('with the key of its server at hand it needs no --trust', async () => {
    const target = { ...env, DATA_DIR: at('trusted') }
    const refused = await run(['restore', file], target)
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('put the secret.key of the server that was backed up into the data directory'),
    ])
    mkdirSync(target.DATA_DIR)
    writeFileSync(join(target.DATA_DIR, 'secret.key'), readFileSync(at('data/secret.key')))
    const restored = await runJson(['restore', file], target)
    expect(restored.signature).toBe("signed by this server's key")
    expect(restored).not.toHaveProperty('api_keys')
  })

  test('a row of a gigabyte is refused before PostgreSQL holds it', async () => {
    const copy = at('bomb.zst')
    const text = await textOf(file)
    const place = text.indexOf('\n', text.indexOf('copy "audit_log" ')) + 1
    const block = await Bun.zstdCompress(Buffer.alloc(64 * 2 ** 20, 'a'))
    const frames = [
      await Bun.zstdCompress(text.slice(0, place)),
      ...Array.from({ length: 16 }, () => block),
      await Bun.zstdCompress(text.slice(place)),
    ]
    const bytes = Buffer.concat(frames)
    const digest = new Bun.CryptoHasher('sha256').update(bytes).digest()
    writeFileSync(copy, Buffer.concat([bytes, trailerOf(digest)]))
    const refused = await run(['backup', 'verify', copy], env)
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringContaining('a row of audit_log has more than 128 MiB'),
    ])
  })
})

describe('restore refuses', () => {
  test('a data directory with a database, also while a server runs on it', async () => {
    const { code, stderr } = await run(['restore', file], env)
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/is in use by another running instance|holds a database/),
    ])
    const stopped = { ...env, DATA_DIR: at('stopped') }
    await newDataFolder(stopped.DATA_DIR)
    expect((await run(['restore', file, '--trust'], stopped)).stderr).toContain('holds a database')
  })

  test('to take a secret.key that is not inside, or is another one than the key here', async () => {
    const target = at('keyed.zst')
    await runJson(['backup', target, '--with-secret-key'], env)
    const other = { ...env, DATA_DIR: at('other'), SECRET_KEY: Buffer.alloc(32, 3).toString('base64') }
    expect((await run(['restore', target, '--trust', '--with-secret-key'], other)).stderr).toContain(
      'SECRET_KEY is another key than the one in the backup',
    )
    expect((await run(['restore', file, '--trust', '--with-secret-key'], other)).stderr).toContain(
      'has no secret.key inside',
    )
    expect(existsSync(at('other/data-18'))).toBe(false)
  })

  test('wrong usage, and a folder without a database has no backup', async () => {
    expect((await run(['restore'], env)).code).toBe(2)
    expect((await run(['backup'], env)).code).toBe(2)
    const none = await run(['backup', at('none.zst')], { ...env, DATA_DIR: at('nothing') })
    expect([none.code, none.stderr]).toEqual([1, expect.stringContaining('holds no database')])
    expect(existsSync(at('nothing'))).toBe(false)
    const noKey = await run(['backup', at('none.zst'), '--with-secret-key'], {
      ...env,
      DATA_DIR: at('stopped'),
    })
    expect([noKey.code, noKey.stderr]).toEqual([
      1,
      expect.stringContaining('neither SECRET_KEY nor a secret.key'),
    ])
  })
})

test('without the key of its webhook secrets a restored database is named, and not served', async () => {
  const keyless = { ...env, DATA_DIR: at('keyless') }
  const { code, stderr } = await run(['restore', file, '--trust'], keyless)
  expect([code, stderr]).toEqual([0, expect.stringContaining('the webhook secrets cannot be opened')])
  const started = await run(['serve', '--port', '0'], keyless)
  expect([started.code, started.stderr]).toEqual([1, expect.stringContaining('encrypted with another key')])
  writeFileSync(at('keyless/secret.key'), readFileSync(at('data/secret.key')))
  const served = await serving('serve', keyless)
  await served.end()
})

describe('serve', () => {
  const SECRET_KEY = Buffer.alloc(32, 7).toString('base64')

  test('makes backups, keeps the newest ones, and goes on after a restart', async () => {
    const backups = at('scheduled')
    const scheduled = {
      ...env,
      DATA_DIR: at('stopped'),
      SECRET_KEY,
      BACKUP_EVERY: '1s',
      BACKUP_KEEP: '2',
      BACKUP_DIR: backups,
    }
    const names = async () =>
      existsSync(backups)
        ? readdirSync(backups)
            .filter((name) => !name.endsWith('.partial'))
            .sort()
        : []
    const first = await serving('serve', scheduled)
    const made = await eventually(names, (found) => found.length > 0)
    expect(made[0]).toMatch(/^cloud-analytics-\d{8}T\d{6}Z\.zst$/)
    await eventually(names, (found) => found.length === 2 && !found.includes(made[0] ?? ''))
    expect((await first.end()).code).toBe(0)
    expect(readdirSync(backups)).toHaveLength(2)
    const [oldest = ''] = await names()
    const verified = await runJson(['backup', 'verify', join(backups, oldest)], { ...env, SECRET_KEY })
    expect(verified).toMatchObject({ ok: true, signature: "signed by this server's key" })

    // the newest one is younger than a day: none is made, and doctor is content
    const daily = { ...scheduled, BACKUP_EVERY: '24h' }
    const second = await serving('serve', daily)
    const { checks } = await runJson(['doctor'], daily)
    expect(checks).toContainEqual(expect.objectContaining({ name: 'backup', status: 'ok' }))
    await second.end()
    expect(await names()).toContain(oldest)
  })

  test('logs a backup that failed, and doctor names it', async () => {
    const blocked = at('blocked')
    const failing = {
      ...env,
      DATA_DIR: at('stopped'),
      BACKUP_EVERY: '1s',
      BACKUP_DIR: join(blocked, 'backups'),
    }
    const serve = await serving('serve', { ...failing, LOG_FORMAT: 'json' })
    // it could be written when the server started
    rmSync(blocked, { recursive: true, force: true })
    writeFileSync(blocked, '')
    const doctor = await eventually(
      () => run(['doctor', '--json'], failing),
      ({ stdout }) => stdout.includes('"fail"'),
    )
    expect(doctor.code).toBe(1)
    expect(JSON.parse(doctor.stdout).checks).toContainEqual({
      name: 'backup',
      status: 'fail',
      message: expect.stringMatching(/^failed at 20.*ENOTDIR.*there is none in/),
    })
    const { stderr } = await serve.end()
    expect(stderr).toMatch(/"level":"error","message":"the backup failed"/)
  })
})
