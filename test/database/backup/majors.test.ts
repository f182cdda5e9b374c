import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { scratchFolder } from '../../support/at-end.ts'
import { run, runJson, serving } from '../../support/cli.ts'

// A backup moves data between major versions of PostgreSQL: from 15, Debian's here, to the embedded 18 and back.

// each starts several processes, on a machine that may be busy
setDefaultTimeout(180_000)
const DEBIAN = '/usr/lib/postgresql'
const MAJOR = 15
const binaries = join(DEBIAN, String(MAJOR), 'bin')
const isInstalled = existsSync(join(binaries, 'initdb'))
if (!isInstalled)
  process.stderr.write(`skipped: no PostgreSQL ${MAJOR} in ${DEBIAN} (apt install postgresql-${MAJOR})\n`)

const folder = scratchFolder()
const dataDir = join(folder.path, 'data')
/** A program that carries PostgreSQL 15 would have its cluster here. */
const cluster = join(dataDir, `data-${MAJOR}`)
const sockets = join(folder.path, 'sockets')
const file = join(folder.path, 'backup.zst')

/** PostgreSQL runs as no root: as `nobody` then. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

function runPostgres(program: string, args: readonly string[]): void {
  const { exitCode, stdout, stderr } = Bun.spawnSync([join(binaries, program), ...args], {
    ...user,
    env: { LC_ALL: 'C' },
    cwd: '/',
  })
  if (exitCode !== 0) throw new Error(`${program}: ${stdout} ${stderr}`)
}

const url = `postgres://postgres@localhost/postgres?host=${encodeURIComponent(sockets)}`
/** The old program: this one on the old server. */
const old = { DATA_DIR: dataDir, DATABASE_URL: url }
const current = { DATA_DIR: dataDir }

/** Reads answers of the API, and the schema's own names. */
async function responses(env: typeof old | typeof current, key: string): Promise<string[]> {
  await using server = await serving('serve', env)
  const texts: string[] = []
  for (const path of [
    'sessions?per_page=100',
    'quality/trend',
    'cost/trend',
    'security/heatmap',
    'team/expertise',
    'risk',
    'audit',
  ]) {
    const response = await fetch(`${server.url}/v1/${path}`, {
      headers: { authorization: `Bearer ${key}` },
    })
    texts.push(`${path} ${response.status} ${await response.text()}`)
  }
  return texts
}

describe.skipIf(!isInstalled)(`PostgreSQL ${MAJOR}`, () => {
  let key = ''
  let before: string[]

  beforeAll(async () => {
    chmodSync(folder.path, 0o755)
    for (const path of [dataDir, sockets]) {
      mkdirSync(path, { mode: 0o755 })
    }
    mkdirSync(cluster, { mode: 0o700 })
    for (const path of [cluster, sockets])
      chownSync(path, user.uid ?? process.getuid?.() ?? 0, user.gid ?? process.getgid?.() ?? 0)
    runPostgres('initdb', [
      '-D',
      cluster,
      '-U',
      'postgres',
      '--auth=trust',
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ])
    const options = `-c listen_addresses= -c unix_socket_directories=${sockets} -c fsync=off`
    runPostgres('pg_ctl', ['-D', cluster, '-w', '-o', options, '-l', join(cluster, 'log'), 'start'])
    await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team'], old)
    await runJson(
      ['seed', '--org', 'acme', '--sessions', '500', '--audit', '100', '--commits', '100', '--risk', '50'],
      old,
    )
    key = (await runJson(['key', 'create', '--org', 'acme', '--name', 'k', '--scopes', 'read'], old)).key
    before = await responses(old, key)
    expect(before.filter((text) => / 200 /.test(text))).toHaveLength(7)
  })
  afterAll(() => {
    runPostgres('pg_ctl', ['-D', cluster, '-m', 'immediate', 'stop'])
    folder.remove()
  })

  test('the two commands that the refusal names move its data to the embedded PostgreSQL', async () => {
    const { code, stderr } = await run(['serve', '--port', '0'], current)
    expect([code, stderr]).toEqual([1, expect.stringContaining(`holds a database of PostgreSQL ${MAJOR}`)])
    const commands = [...stderr.matchAll(/`cloud-analytics ([^`]*)`/g)].map(([, text = '']) =>
      text.replace('FILE', file).split(' '),
    )
    expect(commands).toEqual([
      ['backup', file, '--data-dir', dataDir],
      ['restore', file, '--data-dir', dataDir],
    ])
    const [backup = [], restore = []] = commands
    expect(await runJson(backup, old)).toMatchObject({ postgres: expect.stringMatching(/^15\./) })
    await runJson(restore, current)
    expect(await responses(current, key)).toEqual(before)
    expect(readdirSync(dataDir).sort()).toEqual(expect.arrayContaining(['data-15', 'data-18']))
    const { checks } = await runJson(['doctor'], current)
    expect(checks).toContainEqual(expect.objectContaining({ name: 'rollups', status: 'ok' }))
  })

  test('a backup of the embedded PostgreSQL is restored into it', async () => {
    const back = join(folder.path, 'back.zst')
    await runJson(['backup', back], current)
    Bun.spawnSync([join(binaries, 'createdb'), '-h', sockets, '-U', 'postgres', 'copy'])
    const copy = { DATA_DIR: join(folder.path, 'copy'), DATABASE_URL: url.replace('/postgres?', '/copy?') }
    await runJson(['restore', back, '--trust'], copy)
    expect(await responses(copy, key)).toEqual(before)
    expect(readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim()).toBe('15')
  })
})
