import { beforeAll, describe, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { configFolder } from '../../src/cli/client/folders.ts'
import { machineName } from '../../src/cli/client/machine-name.ts'
import { takeLock } from '../../src/cli/client/watch-lock.ts'
import { testsFolder } from '../support/at-end.ts'
import { eventually, run, runJson, testsServer } from '../support/cli.ts'
import { testsDatabase } from '../support/postgres.ts'
import { inState, valuesIn } from '../watch/state.ts'

// Signing in, and which server, key and user the commands then take, against a real server.

const folder = testsFolder()
const serverEnv = { DATA_DIR: join(folder.path, 'data'), DATABASE_URL: '' }
const transcripts = join(folder.path, 'transcripts')

const database = await testsDatabase()
serverEnv.DATABASE_URL = database.url
const server = await testsServer('serve', serverEnv)
await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team'], serverEnv)
const member = ['--email', 'Ada@example.com', '--name', 'Ada', '--role', 'developer']
await runJson(['member', 'add', '--org', 'acme', ...member], serverEnv)
const create = ['key', 'create', '--org', 'acme', '--scopes', 'read,write', '--name']
const { key, id: keyId } = await runJson([...create, 'ci'], serverEnv)
let adasKey: string = (await runJson([...create, 'laptop', '--member', 'ada@example.com'], serverEnv)).key
await Bun.write(join(transcripts, 'one.jsonl'), transcript('one'))

function transcript(session: string): string {
  const line = (type: string, uuid: string, message: object) =>
    `${JSON.stringify({ type, uuid, sessionId: session, cwd: '/home/ada/shop', timestamp: '2026-11-20T10:00:00.000Z', version: '2.0.0', message })}\n`
  const answer = { id: `msg_${session}`, role: 'assistant', model: 'claude-sonnet-4-5' }
  return (
    line('user', 'u1', { role: 'user', content: 'hello' }) +
    line('assistant', 'a1', {
      ...answer,
      content: [{ type: 'text', text: 'hi' }],
      usage: { input_tokens: 10, output_tokens: 5 },
    })
  )
}

let homes = 0

/** The environment of a user at a machine of their own, who has signed in nowhere. */
function newUser(more: Record<string, string> = {}) {
  homes += 1
  const home = join(folder.path, `home-${homes}`)
  mkdirSync(home)
  const env = {
    DATA_DIR: join(home, 'data'),
    HOME: home,
    XDG_CONFIG_HOME: '',
    GIT_CONFIG_COUNT: '0',
    ...more,
  }
  return { env, home, file: join(home, '.config', 'cloud-analytics', 'login.json') }
}

describe('what is remembered of servers', () => {
  const sent = join(folder.path, 'sent')
  beforeAll(() => Bun.write(join(sent, 'sent.jsonl'), transcript('sent')))

  /** A user who has sent sessions, at a machine that also knows another server. */
  const sender = async () => {
    const { env, home } = newUser()
    await run(['login', '--server', server.url], env, key)
    await runJson(['sync', sent], env)
    await runJson(['status'], env)
    const states = join(home, '.local', 'state', 'cloud-analytics')
    const other = 'https://other.example'
    const add = "insert into targets (server, organization, slug) values (?, 'org_other', 'other')"
    inState(join(home, '.local', 'state'), (state) => state.run(add, [other]))
    expect(readdirSync(states).sort()).toEqual(['state.sqlite3', 'watch.lock'])
    return { env, home, states, other }
  }

  test('goes with the login of a server', async () => {
    const { env, home, states, other } = await sender()
    await runJson(['logout'], env)
    expect((await runJson(['status'], env)).servers).toMatchObject([{ server: other, agents: [] }])
    expect(valuesIn(join(home, '.local', 'state')).files).toEqual({})
    // nothing of it is left in free pages
    expect(readFileSync(join(states, 'state.sqlite3')).includes(sent)).toBe(false)
  })

  test('goes as a whole with the last server', async () => {
    const { env, home } = newUser()
    await run(['login', '--server', server.url], env, key)
    await runJson(['sync', sent], env)
    await runJson(['logout'], env)
    expect(readdirSync(join(home, '.local', 'state'))).toEqual([])
  })

  test.each(['hook uninstall claude-code', 'service uninstall'])(
    'goes as a whole with %s, unless watch runs',
    async (words) => {
      const { env, home, states } = await sender()
      mkdirSync(join(home, '.claude'))
      const lock = takeLock(states)
      await runJson(words.split(' '), env)
      expect(readdirSync(states)).toContain('state.sqlite3')
      lock?.release()
      await runJson(words.split(' '), env)
      expect(existsSync(states)).toBe(false)
    },
  )
})

describe('login', () => {
  test('keeps a key from standard input that the server knows, for its owner only', async () => {
    const { env, file } = newUser()
    const done = await run(['login', '--server', `${server.url}/`], env, `${key}\n`)
    expect(done).toMatchObject({ code: 0, stderr: '' })
    expect(done.stdout).toContain(`signed in to ${server.url}, organization acme, key ${keyId} (ci)`)
    expect(done.stdout).not.toContain(key)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ server: server.url, key, member: null })
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(statSync(join(file, '..')).mode & 0o777).toBe(0o700)

    const shown = await runJson(['whoami'], env)
    expect(shown).toEqual({
      server: server.url,
      organization: {
        id: expect.any(String),
        slug: 'acme',
        name: 'Acme',
        plan: 'cloud_team',
        time_zone: 'UTC',
      },
      key: { id: keyId, name: 'ci', scopes: ['read', 'write'], expires_at: null, member: null },
      member: null,
      scopes: ['read', 'write'],
      limits: { read: 500, sync: 500 },
      user: null,
    })
    const text = (await run(['whoami'], env)).stdout
    for (const part of [
      server.url,
      'acme (Acme), cloud_team',
      'read, write',
      'never',
      'from the login',
      '500',
    ])
      expect(text).toContain(part)

    // again, with another key and the server of before
    expect(await runJson(['login'], env, adasKey)).toMatchObject({ server: server.url, path: file })
    expect(JSON.parse(readFileSync(file, 'utf8')).member).toBe('ada@example.com')

    expect(await runJson(['logout'], env)).toEqual({ server: server.url })
    expect(existsSync(file)).toBe(false)
    expect(await run(['whoami'], env)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('not signed in: run cloud-analytics login --server URL'),
    })
    expect(await runJson(['logout'], env)).toEqual({ server: null })
  })

  test('takes the key from the environment', async () => {
    const { env, file } = newUser({ CLOUD_ANALYTICS_KEY: key, CLOUD_ANALYTICS_SERVER: server.url })
    await runJson(['login'], env)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ server: server.url, key })
  })

  test('keeps nothing that the server refuses, and says why', async () => {
    const { env, file } = newUser()
    const other = await runJson(
      ['key', 'create', '--org', 'acme', '--scopes', 'read', '--name', 'x'],
      serverEnv,
    )
    await runJson(['key', 'revoke', other.id], serverEnv)
    const elsewhere = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('hello') })
    const moved = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: () => Response.redirect('https://new.example/v1/whoami', 301),
    })
    const at = ({ port }: { port?: number | undefined }) => `http://127.0.0.1:${port}`
    const cases: [string, string, number, RegExp][] = [
      [server.url, other.key, 1, /does not know the key: it is revoked, has expired/],
      [server.url, 'ca_live_x', 1, /is not an API key/],
      [server.url, '', 2, /no key was given/],
      ['http://127.0.0.1:1', key, 1, /http:\/\/127\.0\.0\.1:1 cannot be reached/],
      [at(elsewhere), key, 1, /is not Cloud Analytics/],
      [at(moved), key, 1, /redirects to https:\/\/new\.example/],
      ['analytics.example.com', key, 2, /must be a URL/],
      ['ftp://analytics.example.com', key, 2, /must be a URL/],
      ['https://me:secret@analytics.example.com', key, 2, /no user and password/],
    ]
    for (const [url, given, code, message] of cases) {
      const { stderr, ...done } = await run(['login', '--server', url], env, given)
      expect({ url, ...done }).toEqual({ url, code, stdout: '' })
      expect(stderr).toMatch(message)
      expect(stderr).not.toContain('ca_live_')
    }
    expect(await run(['login'], env, key)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--server'),
    })
    expect(existsSync(file)).toBe(false)
    await Promise.all([elsewhere.stop(), moved.stop()])
  })

  test('a damaged file is named, and one that others can read', async () => {
    const { env, file } = newUser()
    await runJson(['login', '--server', server.url], env, key)
    chmodSync(file, 0o644)
    expect((await run(['whoami'], env)).stderr).toContain(`others on this machine can read ${file}`)
    writeFileSync(file, '{')
    const damaged = await run(['whoami'], env)
    expect(damaged).toMatchObject({
      code: 1,
      stderr: `error: ${file} is damaged: run cloud-analytics login --server URL\n`,
    })
    const given = { ...env, CLOUD_ANALYTICS_SERVER: server.url, CLOUD_ANALYTICS_KEY: key }
    expect((await run(['whoami'], given)).code).toBe(0)
    expect((await run(['logout'], env)).code).toBe(0)
    expect(existsSync(file)).toBe(false)
  })
})

describe('which server and key', () => {
  test('a flag comes before the environment, that before the login', async () => {
    const { env } = newUser()
    await runJson(['login', '--server', server.url], env, key)
    const idOf = async (args: string[], more: Record<string, string> = {}) =>
      (await runJson(['whoami', ...args], { ...env, ...more })).key.id
    const adas = adasKey.split('_')[2]
    expect(await idOf([])).toBe(keyId)
    expect(await idOf([], { CLOUD_ANALYTICS_KEY: adasKey })).toBe(adas)
    expect(await idOf(['--key', key], { CLOUD_ANALYTICS_KEY: adasKey })).toBe(keyId)
    const other = { CLOUD_ANALYTICS_SERVER: 'http://127.0.0.1:1' }
    expect(await idOf(['--server', server.url], other)).toBe(keyId)
  })

  test("the login's key goes to no other server", async () => {
    const { env } = newUser()
    await runJson(['login', '--server', server.url], env, key)
    const asked: (string | null)[] = []
    const other = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch(request) {
        asked.push(request.headers.get('authorization'))
        return new Response()
      },
    })
    const url = `http://127.0.0.1:${other.port}`
    for (const args of [['whoami'], ['sync', transcripts]]) {
      const { code, stderr } = await run([...args, '--server', url], env)
      expect(code).toBe(2)
      expect(stderr).toContain(`there is no key for ${url}`)
    }
    expect(asked).toEqual([])
    await other.stop()
  })

  test('a key on the command line and a server without TLS are warned of', async () => {
    const { env } = newUser()
    const warning = 'others on this machine can see a key on the command line'
    const file = join(folder.path, 'key.txt')
    writeFileSync(file, `${key}\n`)
    const stderr = async (args: string[], more: Record<string, string> = {}) =>
      (await run([...args, '--server', server.url], { ...env, ...more })).stderr
    expect(await stderr(['whoami', '--key', key])).toContain(warning)
    expect(await stderr(['whoami', `--key=${key}`])).toContain(warning)
    expect(await stderr(['whoami', '--key', `@${file}`])).toBe('')
    expect(await stderr(['whoami'], { CLOUD_ANALYTICS_KEY: key })).toBe('')
    const plain = await run(['whoami', '--server', 'http://nowhere.invalid'], {
      ...env,
      CLOUD_ANALYTICS_KEY: key,
    })
    expect(plain.stderr).toContain('warning: http://nowhere.invalid is not encrypted')
  })

  test('sync needs a login, --org, or the environment', async () => {
    const { env } = newUser()
    const nowhere = await run(['sync', transcripts], env)
    expect(nowhere.code).toBe(2)
    expect(nowhere.stderr).toMatch(/give --org .*login --server URL/)
    await runJson(['login', '--server', server.url], env, adasKey)
    expect(await runJson(['sync', transcripts], env)).toMatchObject({ received: 1 })
    const ci = newUser({ CLOUD_ANALYTICS_SERVER: server.url, CLOUD_ANALYTICS_KEY: adasKey })
    expect(await runJson(['sync', transcripts], ci.env)).toMatchObject({ received: 1, unchanged: 1 })
    await runJson(['key', 'rotate', adasKey.split('_')[2] ?? '', '--grace', '0s'], serverEnv).then(
      (rotated) => (adasKey = rotated.key),
    )
    const refused = await eventually(
      () => run(['sync', transcripts, '--all'], env),
      ({ code }) => code !== 0,
    )
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain(`${server.url} does not know the key: it is revoked, has expired`)
  })
})

describe('whose the sessions are', () => {
  const userOf = async (env: Parameters<typeof run>[1], args: string[] = []) =>
    (await runJson(['sync', transcripts, '--all', '--reassign', ...args], env)).user

  test('--user, then CLOUD_ANALYTICS_USER, then the member of the key, then git', async () => {
    const { env, home } = newUser()
    const git = { email: 'git@example.com', from: 'git config user.email' }
    await runJson(['login', '--server', server.url], env, key)
    expect(await userOf(env)).toBe(null)
    writeFileSync(join(home, '.gitconfig'), '[user]\n\temail = git@example.com\n')
    expect(await userOf(env)).toEqual(git)
    expect((await runJson(['whoami'], env)).user).toEqual(git)
    const variable = { ...env, CLOUD_ANALYTICS_USER: 'var@example.com' }
    expect(await userOf(variable)).toEqual({ email: 'var@example.com', from: 'CLOUD_ANALYTICS_USER' })
    const flag = { email: 'flag@example.com', from: '--user' }
    expect(await userOf(variable, ['--user', 'flag@example.com'])).toEqual(flag)
    const stored = await run(['export', '--org', 'acme'], serverEnv)
    expect(stored.stdout).toMatch(/"id":"sess_one".*"user_email":"flag@example.com"/)
    const wrong = await run(['sync', transcripts], { ...env, CLOUD_ANALYTICS_USER: 'ada' })
    expect(wrong).toMatchObject({
      code: 2,
      stderr: 'error: CLOUD_ANALYTICS_USER must be an e-mail address; next: cloud-analytics sync --help\n',
    })
    const text = (await run(['sync', transcripts, '--reassign'], env)).stdout
    expect(text).toContain('sessions of git@example.com (git config user.email)')
    // the same as the member's key is told by its login, and by the server
    const member = { email: 'ada@example.com', from: "the key's member" }
    await userOf(env, ['--user', 'ada@example.com'])
    expect((await runJson(['sync', transcripts], { ...env, CLOUD_ANALYTICS_KEY: adasKey })).user).toEqual(
      member,
    )
    await runJson(['login'], env, adasKey)
    expect((await runJson(['sync', transcripts], env)).user).toEqual(member)
  })
})

test('the server learns the name of the machine', async () => {
  const { env } = newUser()
  await runJson(['login', '--server', server.url], env, adasKey)
  await runJson(['sync', transcripts, '--all'], env)
  const answer = await fetch(`${server.url}/v1/team/machines`, {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(((await answer.json()) as { data: object[] }).data).toContainEqual(
    expect.objectContaining({
      machine: machineName(hostname()),
      member: { id: expect.stringMatching(/^user_/), email: 'ada@example.com' },
    }),
  )
  expect(machineName('Adas MacBook, caf\u00e9 \ud83d\udcbb')).toBe('Adas MacBook_ caf_ _')
  expect(machineName('x'.repeat(300))).toHaveLength(255)
  expect(machineName('  ')).toBeUndefined()
})

test('the folder of the login is that of the platform', () => {
  const env = { HOME: '/home/ada' }
  expect(configFolder(env, 'linux')).toBe('/home/ada/.config/cloud-analytics')
  expect(configFolder({ ...env, XDG_CONFIG_HOME: '/x' }, 'linux')).toBe('/x/cloud-analytics')
  expect(configFolder(env, 'darwin')).toBe('/home/ada/Library/Application Support/cloud-analytics')
  expect(configFolder({ ...env, APPDATA: '/roaming' }, 'win32')).toBe('/roaming/cloud-analytics')
})
