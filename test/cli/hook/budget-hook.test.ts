import { expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keepLogin } from '../../../src/cli/client/login-file.ts'
import { budgetsPath } from '../../../src/cli/client/state-files.ts'
import { testsFolder } from '../../support/at-end.ts'
import { eventually, PROGRAM, runJson, testsServer, until } from '../../support/cli.ts'
import { testsDatabase } from '../../support/postgres.ts'

// The hook before a prompt of Claude Code: what it says of budgets, and that it is never in the way.

setDefaultTimeout(180_000)
const MINUTE_MS = 60_000
const folder = testsFolder()
const serverEnv = { DATA_DIR: join(folder.path, 'server'), DATABASE_URL: '' }
const home = join(folder.path, 'home')
const shop = join(folder.path, 'shop')
const env = {
  DATA_DIR: join(home, 'data'),
  HOME: home,
  XDG_CONFIG_HOME: '',
  XDG_STATE_HOME: join(home, 'state'),
}
const state = join(home, 'state', 'cloud-analytics')

mkdirSync(shop, { recursive: true })
const database = await testsDatabase()
serverEnv.DATABASE_URL = database.url
const server = await testsServer('serve', serverEnv)
const org = ['--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_enterprise']
await runJson(['org', 'create', ...org], serverEnv)
await runJson(
  [
    'member',
    'add',
    '--org',
    'acme',
    '--email',
    'ada@example.com',
    '--name',
    'Ada',
    '--role',
    'developer',
    '--team',
    'payments',
  ],
  serverEnv,
)
const create = ['key', 'create', '--org', 'acme', '--name', 'k', '--scopes']
const { key: admin } = await runJson([...create, 'write,admin'], serverEnv)
const { key } = await runJson([...create, 'sessions:write', '--member', 'ada@example.com'], serverEnv)
keepLogin(env, { server: server.url, key, member: 'ada@example.com' })
const session = { type: 'session', id: 'sess_1', project_name: 'shop', user_email: 'ada@example.com' }
const records = [{ ...session, created_at: new Date().toISOString(), estimated_cost: 10 }]
await call('POST', '/v1/sync', { records })

async function call(method: string, path: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json' }
  const answer = await fetch(`${server.url}${path}`, { method, headers, body: JSON.stringify(body) })
  expect([path, answer.status]).toEqual([path, 200])
}
const month = new Date().toISOString().slice(0, 7)
const setLimit = (limit: number, scope = '') => call('PUT', `/v1/budgets/${month}${scope}`, { limit })

/** Submits a prompt in the folder `shop`, and returns what the hook says; undefined for nothing. */
async function prompt(more: Record<string, string> = {}): Promise<unknown> {
  const child = Bun.spawn({
    cmd: [...PROGRAM, 'hook', 'budget', 'claude-code'],
    env: { PATH: process.env.PATH ?? '', ...env, ...more },
    stdin: new Blob([JSON.stringify({ hook_event_name: 'UserPromptSubmit', prompt: 'hello', cwd: shop })]),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  expect([err, code]).toEqual(['', 0])
  return out === '' ? undefined : (JSON.parse(out) as unknown)
}

/** Repeats it: a busy machine may take longer than the hook waits for the server. */
const promptUntil = async (expected: unknown) => {
  await eventually(
    () => prompt(),
    (said) => Bun.deepEquals(said, expected),
  )
}

const copies = () => readdirSync(state).filter((name) => name.startsWith('budgets-'))
/** Makes the copy older. */
function age(ms: number): void {
  const path = join(state, copies()[0] ?? '')
  const copy = JSON.parse(readFileSync(path, 'utf8'))
  writeFileSync(path, JSON.stringify({ ...copy, at: copy.at - ms }))
}

const AT_80 = {
  systemMessage:
    'Cloud Analytics: the budget of the team payments is used to 80 % this month ($10.00 of $12.50).',
}

test('warns from 80 percent on, and beyond a limit warns or refuses as the organization wants', async () => {
  // it says nothing either where the server takes longer than it waits, and keeps nothing then
  const copiesAfterPrompt = async () => {
    expect(await prompt()).toBeUndefined()
    return existsSync(state) ? copies() : []
  }
  await eventually(copiesAfterPrompt, ({ length }) => length === 1)
  await setLimit(12.5, '?team=payments')
  // the copy is used for a minute
  expect(await prompt()).toBeUndefined()
  age(MINUTE_MS)
  await promptUntil(AT_80)
  // elsewhere a setting that is wrong ends with 2, by which Claude Code refuses a prompt
  expect(await prompt({ LOG_LEVEL: 'wrong' })).toEqual(AT_80)

  await setLimit(8, '?project=shop')
  age(10 * MINUTE_MS)
  const link = `${server.url}/#/settings/budget`
  const beyond = `the budget of the project shop is exceeded this month ($10.00 of $8.00). An owner or admin of the organization can raise it: ${link}`
  await promptUntil({ systemMessage: `Cloud Analytics: ${beyond}` })
  await call('PATCH', '/v1/organization', { budget_action: 'block' })
  age(10 * MINUTE_MS)
  const refusal = { decision: 'block', reason: `Cloud Analytics: the prompt is refused, since ${beyond}` }
  await promptUntil(refusal)
  expect(await prompt()).toEqual(refusal)
  // a raised limit counts at once
  await setLimit(100, '?project=shop')
  await promptUntil(AT_80)
})

test('lets prompts through while the server is away', async () => {
  await setLimit(9, '?member=ada@example.com')
  age(10 * MINUTE_MS)
  const mine = 'your budget is exceeded this month ($10.00 of $9.00)'
  await eventually(
    () => prompt(),
    (said) => JSON.stringify(said)?.includes(`since ${mine}`) === true,
  )
  await server.end()
  await promptUntil(undefined)
  age(10 * MINUTE_MS)
  expect(await prompt()).toBeUndefined()
})

test('answers from its copy where the server takes its time, and asks it behind the prompt', async () => {
  const released = Promise.withResolvers<void>()
  const slow = Bun.serve({
    port: 0,
    fetch: async () => {
      await released.promise
      return Response.json({ action: 'warn', budgets: [] })
    },
  })
  const url = `http://127.0.0.1:${slow.port}`
  keepLogin(env, { server: url, key: 'ca_live_none', member: null })
  // without a copy it asks first, for a second
  expect(await prompt()).toBeUndefined()
  const path = budgetsPath(env, url, shop)
  const figures = { limit: 1, current_cost: 2, percent_used: 200, status: 'exceeded' }
  const old = Date.now() - 2 * MINUTE_MS
  const answer = { action: 'block', budgets: [{ scope: {}, ...figures }] }
  writeFileSync(path, JSON.stringify({ at: old, answer }))
  expect(await prompt()).toMatchObject({
    decision: 'block',
    reason: expect.stringContaining('of the organization'),
  })
  released.resolve()
  await until(() => (JSON.parse(readFileSync(path, 'utf8')).at as number) > old)
  expect(await prompt()).toBeUndefined()
  await slow.stop(true)
  await runJson(['logout'], env)
  expect(existsSync(state)).toBe(false)
  expect(await prompt()).toBeUndefined()
})
