import { expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { flagOf, SETTINGS } from '../../src/config.ts'
import { scratchFolder } from '../support/at-end.ts'
import { run, runJson } from '../support/cli.ts'
import { testsDatabase } from '../support/postgres.ts'

// Accounts and usage, on a database by URL.

const database = await testsDatabase()

const env = { DATABASE_URL: database.url, DATA_DIR: '/nonexistent', PORT: '1' }
await runJson(['org', 'create', '--slug', 'acme', '--name', 'Acme', '--plan', 'cloud_team'], env)

test('version, and help with examples', async () => {
  expect((await run(['version'], env)).stdout).toMatch(
    /^\d+\.\d+\.\d+\S* .*, schema \d+, PostgreSQL \d+\.\d+, .*\n$/,
  )
  expect(await runJson(['version'], env)).toMatchObject({ version: expect.any(String) })
  expect(await runJson(['--version'], env)).toEqual({ version: expect.any(String) })
  const help = await run(['key', 'create', '--help'], env)
  expect(help.code).toBe(0)
  expect(help.stdout).toContain('cloud-analytics key create --org acme')
  const settings = (await run(['--help'], env)).stdout.replace(/\n\s{20,}/g, ' ')
  expect(settings).toMatch(
    /--admin-port <value>\s+port of the admin listener, which answers \/metrics, 0 for any free one \(off\)\n/,
  )
  expect(settings).toMatch(/--public-url <value>\s+where clients reach this server\n/)
  expect(settings).toMatch(
    /--retention-audit-days <value>\s+days that audit entries are kept \(0: for ever\)\n/,
  )
  expect(settings).toMatch(
    /--store-content <value>\s+true keeps prompts and answers that are sent \(false\)\n/,
  )
})

test('the help of serve and demo shows every setting that they use', async () => {
  const serve = (await run(['serve', '--help'], env)).stdout
  for (const { name } of SETTINGS) expect(serve).toContain(`${flagOf(name)} `)
  const demo = (await run(['demo', '--help'], env)).stdout
  expect(demo).toContain('--port ')
  expect(demo).not.toContain('--data-dir ')
})

test.each([
  ['servee', 'serve'],
  ['kye list', 'key'],
  ['org lst', 'list'],
])('for %j the command %s is suggested', async (typed, meant) => {
  const { code, stderr } = await run(typed.split(' '), env)
  expect(code).toBe(2)
  expect(stderr).toContain(`(Did you mean ${meant}`)
})

test.each(['orgs list', 'keys list', 'members list', 'budgets show', 'reports list', 'webhooks list'])(
  'the plural works too: %s',
  async (typed) => {
    const about = typed.startsWith('orgs') ? [] : ['--org', 'acme']
    expect((await run([...typed.split(' '), ...about], env)).code).toBe(0)
  },
)

const WRONG_USAGE: [string, string[]][] = [
  ['an unknown command', ['org', 'destroy']],
  ['an unknown command at the top', ['destroy']],
  ['an unknown option', ['org', 'list', '--all']],
  ['a missing option', ['org', 'create', '--slug', 'x']],
  ['a family without a command', ['org']],
  ['a missing argument', ['import', '--org', 'acme']],
  ['one argument too many', ['org', 'list', 'acme']],
  ['a plan that is none', ['org', 'create', '--slug', 'x', '--name', 'X', '--plan', 'gold']],
  ['a slug that is none', ['org', 'create', '--slug', 'X!', '--name', 'X', '--plan', 'cloud_pro']],
  ['a scope that is none', ['key', 'create', '--org', 'acme', '--name', 'x', '--scopes', 'root']],
  [
    'a date that is none',
    ['key', 'create', '--org', 'acme', '--name', 'x', '--scopes', 'read', '--expires', '2026-02-30'],
  ],
  [
    'a role that is none',
    ['member', 'add', '--org', 'acme', '--email', 'a@b.c', '--name', 'A', '--role', 'king'],
  ],
  ['an amount that is none', ['budget', 'set', '--org', 'acme', '--limit', 'much']],
  ['a limit of nothing', ['budget', 'set', '--org', 'acme', '--limit', '0']],
  ['a month that is none', ['budget', 'set', '--org', 'acme', '--limit', '5', '--month', '2026-13']],
  ['a number that is none', ['seed', '--org', 'acme', '--sessions', '-3']],
  ['nothing to change', ['org', 'update', 'acme']],
  ['a setting that is none', ['org', 'list', '--log-level', 'loud']],
  ['sync to nowhere', ['sync', '.']],
  ['sync to two places', ['sync', '.', '--org', 'acme', '--server', 'http://localhost:1', '--key', 'x']],
]
test.each(WRONG_USAGE)('%s is wrong usage: exit code 2, nothing on standard output', async (_what, args) => {
  const { code, stdout, stderr } = await run([...args, '--json'], env)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).not.toBe('')
  expect(stderr).not.toContain('    at ')
})

test('every wrong setting is named at once', async () => {
  const { code, stderr } = await run(['serve', '--port', 'http'], {
    ...env,
    DATABASE_POOL: '0',
    LOG_FORMAT: 'xml',
  })
  expect(code).toBe(2)
  for (const name of ['--port', 'DATABASE_POOL', 'LOG_FORMAT']) expect(stderr).toContain(name)
})

test('what fails is one line and exit code 1', async () => {
  const failing = [
    ['key', 'list', '--org', 'nobody'],
    ['key', 'revoke', 'nokey'],
    ['member', 'remove', '--org', 'acme', '--email', 'nobody@example.com'],
    ['org', 'create', '--slug', 'acme', '--name', 'Again', '--plan', 'cloud_pro'],
    ['health'],
    ['sync', '/nonexistent', '--org', 'acme'],
    ['import', '/nonexistent', '--org', 'acme'],
    ['export', '--org', 'nobody'],
  ]
  const results = await Promise.all(failing.map((args) => run(args, env)))
  for (const { code, stdout, stderr } of results) {
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^error: [^\n]+\n$/)
  }
})

test('a command that needs a database makes none: it says that the folder holds none', async () => {
  const folder = scratchFolder()
  const dataDir = `${folder.path}/data`
  const needing = [
    ['org', 'list'],
    ['org', 'update', 'acme', '--plan', 'cloud_pro'],
    ['key', 'list', '--org', 'acme'],
    ['export', '--org', 'acme'],
    ['import', import.meta.path, '--org', 'acme'],
  ]
  const results = await Promise.all(needing.map((args) => run(args, { DATA_DIR: dataDir })))
  for (const { code, stdout, stderr } of results) {
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toMatch(/^error: [^\n]*\/data holds no database: [^\n]+\n$/)
  }
  const doctor = await run(['doctor'], { DATA_DIR: dataDir, PORT: '1' })
  expect(doctor.code).toBe(1)
  expect(doctor.stdout).toContain('/data holds no database')
  expect(existsSync(dataDir)).toBe(false)
  folder.remove()
})

test('a database that is not there is said in one line, without its password', async () => {
  const { code, stderr } = await run(['org', 'list'], {
    ...env,
    DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/none',
  })
  expect(code).toBe(1)
  expect(stderr).toMatch(/^error: [^\n]*does not answer[^\n]*\n$/)
  expect(stderr).not.toContain('hunter2')
})

test('organizations are made, listed and changed', async () => {
  const made = await runJson(
    ['org', 'create', '--slug', 'beta', '--name', 'Beta', '--plan', 'cloud_pro'],
    env,
  )
  expect(made).toMatchObject({
    id: expect.stringMatching(/^org_/),
    slug: 'beta',
    name: 'Beta',
    plan: 'cloud_pro',
  })
  expect(await runJson(['org', 'list'], env)).toContainEqual(made)
  const changed = await runJson(['org', 'update', 'beta', '--plan', 'cloud_enterprise'], env)
  expect(changed).toEqual({
    ...{ ...made, plan: 'cloud_enterprise' },
    ...{ retention_pending: null, time_zone_pending: null },
  })
  expect((await run(['org', 'list'], env)).stdout).toContain('cloud_enterprise')
})

test('an organization is shown with its badges and what it has', async () => {
  const made = await runJson(
    ['org', 'create', '--slug', 'shown', '--name', 'Shown', '--plan', 'cloud_pro'],
    env,
  )
  await runJson(['org', 'update', 'shown', '--badges', 'public'], env)
  for (const wrong of [
    ['--badges', 'open'],
    ['--badge-token', 'mine'],
    ['--retention-sessions', '0'],
    ['--plan', 'free'],
  ])
    expect([wrong, (await run(['org', 'update', 'shown', ...wrong], env)).code]).toEqual([wrong, 2])
  await runJson(['key', 'create', '--org', 'shown', '--name', 'k', '--scopes', 'read'], env)
  const session = { type: 'session', id: 'sess_shown', project_name: 'p', created_at: '2026-01-02T03:04:05Z' }
  await runJson(['import', '-', '--org', 'shown'], env, JSON.stringify(session))
  const shown = await runJson(['org', 'show', 'shown'], env)
  expect(shown).toMatchObject({
    ...made,
    badges: { visibility: 'public' },
    sessions: 1,
    members: 0,
    keys: 1,
  })
  expect((await run(['org', 'show', 'nobody'], env)).code).toBe(1)
})

test('a key is shown once, listed without its secret, and revoked', async () => {
  const wanted = ['--name', 'ci', '--scopes', 'read,write', '--expires', '2099-01-31']
  const made = await runJson(['key', 'create', '--org', 'acme', ...wanted], env)
  expect(made).toEqual({
    id: expect.any(String),
    key: expect.stringMatching(/^ca_live_[a-z0-9]{8}_[A-Za-z0-9]{38}$/),
    name: 'ci',
    scopes: ['read', 'write'],
    expires_at: '2099-01-31T00:00:00.000Z',
  })
  const listed = await run(['key', 'list', '--org', 'acme', '--json'], env)
  expect(listed.stdout).toContain(made.id)
  expect(listed.stdout).not.toContain(made.key)
  expect(await runJson(['key', 'revoke', made.id], env)).toMatchObject({
    id: made.id,
    revoked_at: expect.any(String),
  })
})

test("a member's key is made and rotated; an end that has passed is wrong usage", async () => {
  const member = ['--org', 'acme', '--email', 'Eve@example.com', '--name', 'Eve', '--role', 'developer']
  await runJson(['member', 'add', ...member], env)
  const create = ['key', 'create', '--org', 'acme', '--name', 'laptop', '--scopes', 'sessions:write']
  const made = await runJson([...create, '--member', 'eve@example.com'], env)
  expect(made).toMatchObject({ scopes: ['sessions:write'], member: 'eve@example.com' })
  const rotated = await runJson(['key', 'rotate', made.id, '--grace', '2h'], env)
  expect(rotated).toMatchObject({
    name: 'laptop',
    scopes: ['sessions:write'],
    member: 'eve@example.com',
    previous: { id: made.id },
  })
  expect(rotated.key).not.toBe(made.key)
  expect(Math.abs(Date.parse(rotated.previous.expires_at) - Date.now() - 7_200_000)).toBeLessThan(60_000)
  const listed = (await runJson(['key', 'list', '--org', 'acme'], env)) as { id: string; member: unknown }[]
  expect(listed.find(({ id }) => id === rotated.id)).toMatchObject({ member: 'eve@example.com' })
  const wrong = [
    [...create, '--expires', '2026-01-01'],
    ['key', 'rotate', rotated.id, '--grace', 'tomorrow'],
  ]
  for (const args of wrong) expect((await run(args, env)).code).toBe(2)
  const nobody = await run([...create, '--member', 'nobody@example.com'], env)
  expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining('no member "nobody@example.com"')])
  await runJson(['member', 'remove', '--org', 'acme', '--email', 'eve@example.com'], env)
})

test('people of a file are invited, all or nobody', async () => {
  const folder = scratchFolder()
  const file = join(folder.path, 'people.csv')
  const invite = ['member', 'invite', '--org', 'acme', '--file', file]
  const header = 'email,display_name,role,team'
  writeFileSync(file, `${header}\r\ngil@example.com,"Gil ""G"", Jr",developer,web\nhal@example,,king,\n`)
  const wrong = await run(invite, env)
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('row 2 role: must be one of')])
  writeFileSync(file, 'email,role\ngil@example.com,developer\n')
  expect((await run(invite, env)).stderr).toContain(`must be CSV with the header ${header}`)
  writeFileSync(
    file,
    `\uFEFF${header}\r\ngil@example.com,"Gil ""G"", Jr",developer,web\r\n\r\nhal@example.com,,auditor,`,
  )
  const { data } = (await runJson(invite, env)) as { data: { email: string; url: string }[] }
  expect(data.map(({ email }) => email)).toEqual(['gil@example.com', 'hal@example.com'])
  expect(data[0]?.url).toContain('/accept#token=')
  const listed = await runJson(['member', 'list', '--org', 'acme'], env)
  const members = listed as { email: string; display_name: string; team: string | null }[]
  const invited = members.filter(({ email }) => /^(gil|hal)@/.test(email))
  expect(invited.map(({ display_name, team }) => [display_name, team]).sort()).toEqual([
    ['Gil "G", Jr', 'web'],
    ['hal', null],
  ])
  const text = await run(invite, env)
  expect(text.stdout).toContain('gil@example.com')
  for (const args of [
    ['--org', 'acme'],
    ['gil@example.com', '--org', 'acme', '--file', file],
  ])
    expect((await run(['member', 'invite', ...args], env)).code).toBe(2)
  for (const { email } of invited) await run(['member', 'remove', '--org', 'acme', '--email', email], env)
  folder.remove()
})

test('a member who was removed gets the sessions with the id by --id', async () => {
  const about = ['--org', 'acme', '--email', 'fay@example.com']
  const add = [...about, '--name', 'Fay', '--role', 'developer']
  const { id } = await runJson(['member', 'add', ...add], env)
  const session = { type: 'session', id: 'sess_fay', project_name: 'p', created_at: '2026-01-02T03:04:05Z' }
  await run(['import', '-', '--org', 'acme'], env, JSON.stringify({ ...session, user_id: id }))
  await runJson(['member', 'remove', ...about], env)
  expect((await run(['member', 'add', ...add, '--id', 'fay'], env)).code).toBe(2)
  expect(await runJson(['member', 'add', ...add, '--id', id], env)).toMatchObject({ id })
  const other = await run(['member', 'add', ...add, '--id', 'user_other'], env)
  expect([other.code, other.stderr]).toEqual([1, expect.stringContaining(`already has the id ${id}`)])
  await runJson(['member', 'erase', 'fay@example.com', '--org', 'acme'], env)
})

test('a member is added, changed and removed; sessions keep the address', async () => {
  const about = ['--org', 'acme', '--email', 'Ada@Example.com']
  const made = await runJson(['member', 'add', ...about, '--name', 'Ada', '--role', 'developer'], env)
  expect(made).toMatchObject({
    id: expect.stringMatching(/^user_/),
    email: 'ada@example.com',
    role: 'developer',
  })
  const changed = await runJson(['member', 'add', ...about, '--name', 'Ada L', '--role', 'admin'], env)
  expect(changed).toEqual({ ...made, display_name: 'Ada L', role: 'admin' })
  expect(await runJson(['member', 'list', '--org', 'acme'], env)).toEqual([changed])
  const session = { type: 'session', id: 'sess_ada', project_name: 'p', created_at: '2026-01-02T03:04:05Z' }
  await runJson(
    ['import', '-', '--org', 'acme'],
    env,
    JSON.stringify({ ...session, user_email: 'ada@example.com' }),
  )
  expect(await runJson(['member', 'remove', ...about], env)).toEqual(changed)
  expect(await runJson(['member', 'list', '--org', 'acme'], env)).toEqual([])
  const exported = (await run(['export', '--org', 'acme'], env)).stdout
  expect(exported).toContain('"user_email":"ada@example.com"')
})

test('a budget holds from its month on', async () => {
  const budget = await runJson(
    ['budget', 'set', '--org', 'acme', '--limit', '99.50', '--month', '2026-11'],
    env,
  )
  expect(budget).toEqual({ org: 'acme', month: '2026-11', limit: 99.5, currency: 'USD' })
  expect((await run(['export', '--org', 'acme'], env)).stdout).toContain(
    '{"type":"budget","month":"2026-11","limit":99.5}',
  )
  expect(await runJson(['budget', 'show', '--org', 'acme'], env)).toEqual([
    { month: '2026-11', limit: 99.5, currency: 'USD' },
  ])
})

test('notes are added, listed and deleted', async () => {
  const org = ['--org', 'acme']
  const add = ['note', 'add', ...org, '--day', '2026-11-23', '--project', 'web', 'A training']
  const note = (await runJson(add, env)) as { id: string }
  expect(note).toMatchObject({ day: '2026-11-23', text: 'A training', project: 'web' })
  expect(await runJson(['note', 'list', ...org], env)).toEqual([note])
  expect((await run(['note', 'list', ...org], env)).stdout).toContain('A training')
  expect(await runJson(['note', 'delete', ...org, note.id], env)).toEqual({ deleted: note.id })
  expect((await run(['note', 'delete', ...org, note.id], env)).code).not.toBe(0)
  expect((await run(['note', 'add', ...org, '--day', '2026-02-30', 'A'], env)).code).toBe(2)
})

test('plans are set, replaced, imported, ended and deleted; seats show what they cost', async () => {
  const org = ['--org', 'acme']
  const set = (...more: string[]) => [
    'plan',
    'set',
    ...org,
    '--vendor',
    'anthropic',
    '--price',
    '20',
    ...more,
  ]
  const plan = (await runJson(set('--plan', 'pro', '--from', '2026-01-01'), env)) as { id: string }
  expect(plan).toMatchObject({ plan: 'pro', member: null, price_month: 20, quantity: 1, to: null })
  expect(await runJson(set('--plan', 'pro', '--from', '2026-02-01', '--replace'), env)).toMatchObject({
    to: null,
  })
  const folder = scratchFolder()
  const file = join(folder.path, 'plans.csv')
  await Bun.write(file, 'vendor,plan,from,price_month,quantity\nopenai,"plus",2026-01-01,10.5,3\n')
  expect(await runJson(['plan', 'import', file, ...org], env)).toEqual({
    created: 1,
    updated: 0,
    unchanged: 0,
  })
  await Bun.write(file, 'vendor,plan,from,price_month\nopenai,plus,2026-01-32,much\n')
  const refused = await run(['plan', 'import', file, ...org], env)
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('row 1 from: must be a date')])
  expect((await run(set('--plan', 'pro', '--quantity', 'many'), env)).code).toBe(2)
  const listed = (await runJson(['plan', 'list', ...org], env)) as { vendor: string }[]
  // plans of one day are in the order of their ids
  expect(listed.toSorted((a, b) => (a.vendor < b.vendor ? -1 : a.vendor > b.vendor ? 1 : 0))).toMatchObject([
    { id: plan.id, plan: 'pro', to: '2026-01-31' },
    { plan: 'pro', to: null },
    { plan: 'plus', quantity: 3 },
  ])
  expect(await runJson(['plan', 'end', plan.id, ...org, '--to', '2026-01-15'], env)).toMatchObject({
    to: '2026-01-15',
  })
  expect(await runJson(['plan', 'delete', plan.id, ...org], env)).toEqual({ deleted: plan.id })
  const seats = ['seats', ...org, '--from', '2026-01-01', '--to', '2026-02-28']
  expect(await runJson(seats, env)).toMatchObject({ total: { seats: 4, paid: 83, cost: 0 } })
  expect((await run(seats, env)).stdout).toContain('4 seats: $83.00 paid')
  expect((await run(['limits', ...org], env)).stdout).toContain('no limit is known')
  folder.remove()
})

test('teams, their budgets, and what happens on laptops beyond them', async () => {
  const add = ['--org', 'acme', '--email', 'tess@example.com', '--name', 'Tess', '--role', 'developer']
  const tess = (await runJson(['member', 'add', ...add, '--team', 'payments'], env)) as { id: string }
  expect(tess).toMatchObject({ team: 'payments' })
  expect(await runJson(['member', 'add', ...add], env)).toMatchObject({ team: 'payments' })
  const set = ['budget', 'set', '--org', 'acme', '--limit', '5', '--month', '2026-11']
  expect(await runJson([...set, '--team', 'payments'], env)).toEqual({
    ...{ org: 'acme', month: '2026-11', limit: 5, currency: 'USD', team: 'payments' },
  })
  expect((await run([...set, '--team', 'payments', '--project', 'web'], env)).code).toBe(2)
  expect((await run([...set, '--project', ''], env)).code).toBe(2)
  expect(await runJson([...set, '--member', 'TESS@example.com'], env)).toMatchObject({ member: tess.id })
  const unknown = await run([...set, '--member', 'nobody@example.com'], env)
  expect([unknown.code, unknown.stderr]).toEqual([1, 'error: member: there is no such member\n'])
  expect(await runJson(['budget', 'show', '--org', 'acme'], env)).toContainEqual({
    ...{ month: '2026-11', limit: 5, currency: 'USD', team: 'payments' },
  })
  expect((await run(['budget', 'show', '--org', 'acme'], env)).stdout).toContain('team payments')
  expect(await runJson(['member', 'add', ...add, '--team', ''], env)).toMatchObject({ team: null })
  const update = ['org', 'update', 'acme', '--budget-action']
  expect(await runJson([...update, 'block'], env)).toMatchObject({ budget_action: 'block' })
  expect((await run([...update, 'refuse'], env)).code).toBe(2)
  expect(await runJson([...update, 'warn'], env)).toMatchObject({ budget_action: 'warn' })
})

test('reports are listed, newest first', async () => {
  const generate = (from: string) =>
    runJson(
      ['report', 'generate', '--org', 'acme', '--type', 'soc2', '--from', from, '--to', '2026-03-31'],
      env,
    )
  const first = await generate('2026-01-01')
  const second = await generate('2026-02-01')
  expect(await runJson(['report', 'list', '--org', 'acme'], env)).toEqual([second, first])
})

test('an import of nothing but garbage fails, after it has said why', async () => {
  const args = ['import', '-', '--org', 'acme', '--json']
  const { code, stdout, stderr } = await run(args, env, 'no record\n{"type":"wish"}\n')
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({ received: 2, skipped: 2 })
  expect(stderr).toContain('line 1: ')
  const mixed = 'garbage\n{"type":"budget","month":"2031-01","limit":5}\n'
  expect((await run(args, env, mixed)).code).toBe(0)
})

test('doctor finds rollups that differ from their sessions, and mends them', async () => {
  const plan = ['--sessions', '300', '--seed', '7']
  await runJson(['seed', '--org', 'acme', ...plan], env)
  // the same again changes nothing
  await runJson(['seed', '--org', 'acme', ...plan], env)
  expect(await runJson(['doctor'], env)).toMatchObject({ ok: true })
  await database.sql`update session_rollups set sessions = sessions + 1 where grain = 'month' and project = ''`
  const found = await run(['doctor', '--json'], env)
  expect(found.code).toBe(1)
  const report: { ok: boolean; checks: { name: string; status: string }[] } = JSON.parse(found.stdout)
  expect(report.ok).toBe(false)
  expect(report.checks.filter(({ status }) => status === 'fail').map(({ name }) => name)).toEqual(['rollups'])
  expect(await runJson(['doctor', '--repair'], env)).toMatchObject({ ok: true })
  expect(await runJson(['migrate'], env)).toEqual({ applied: [] })
})
