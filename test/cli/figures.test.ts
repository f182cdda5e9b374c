import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { barOf, cutToWidth, draw, screenOf, sparkOf } from '../../src/cli/command/table.ts'
import { scratchFolder } from '../support/at-end.ts'
import { PROGRAM, run, runJson, type Serving, serving } from '../support/cli.ts'
import { newDataFolder } from '../support/data-folder.ts'
import { given, sessionRecord } from '../support/records.ts'

// cost, sessions, quality, risk and team: on the local database and by a server's API, the same figures.

setDefaultTimeout(180_000)
const folder = scratchFolder()
const local = { DATA_DIR: `${folder.path}/data` }
let server: Serving
let remote: typeof local & { CLOUD_ANALYTICS_SERVER: string; CLOUD_ANALYTICS_KEY: string }
let key: string

const MARCH = ['--from', '2026-03-01', '--to', '2026-03-31']
const HOSTILE = '\u001b[2J\u202eevil\nnext'
const usual = {
  project_name: 'checkout',
  turns: 10,
  quality_score: 80,
  source: 'claude-code',
  branch: 'main',
}
const session = (id: string, created_at: string, fields: object) =>
  sessionRecord(`sess_${id}`, { ...usual, created_at, ...fields })
const tokens = (input: number) => ({ input, output: 1_000, cache_read: 2_500_000, cache_creation: 30_000 })
const RECORDS = [
  { type: 'member', id: 'user_ada', email: 'ada@example.com', display_name: 'Ada', role: 'admin' },
  { type: 'member', id: 'user_bo', email: 'bo@example.com', display_name: '田中', role: 'developer' },
]
  .map((record): object => ({ ...record, joined_at: '2026-01-05T00:00:00Z' }))
  .concat([
    session('one', '2026-03-02T10:00:00Z', {
      model: 'claude-opus-4-5',
      estimated_cost: 30,
      tokens: tokens(12_345),
      user_email: 'ada@example.com',
    }),
    session('two', '2026-03-03T11:30:00Z', {
      model: 'claude-sonnet-4-5',
      estimated_cost: 7.5,
      tokens: tokens(500),
      turns: 1_234,
      quality_score: 45.25,
      user_email: 'bo@example.com',
      project_name: 'データベース管理システムのとても長い名前のプロジェクト',
    }),
    session('three', '2026-03-03T12:00:00Z', {
      model: 'claude-sonnet-4-5',
      estimated_cost: 0.000213,
      tokens: tokens(0),
      project_name: HOSTILE,
    }),
    session('now', new Date(Date.now() - 3_600_000).toISOString(), {
      model: 'gpt-5.2-codex',
      estimated_cost: 2,
      tokens: tokens(10),
      user_email: 'ada@example.com',
    }),
    { type: 'budget', month: '2026-01', limit: 100 },
    given({
      repo: 'acme/checkout',
      pr_number: 128,
      pr_title: 'Fix rounding of refunds when several currencies are paid back at once',
      files_changed: 12,
      created_at: '2026-03-20T10:00:00Z',
    }),
  ])

beforeAll(async () => {
  await newDataFolder(local.DATA_DIR)
  server = await serving('serve', local)
  for (const slug of ['acme', 'empty'])
    await runJson(['org', 'create', '--slug', slug, '--name', slug, '--plan', 'cloud_team'], local)
  const records = RECORDS.map((record) => `${JSON.stringify(record)}\n`).join('')
  const imported = await runJson(['import', '-', '--org', 'acme'], local, records)
  expect(imported).toMatchObject({ created: RECORDS.length, skipped: 0 })
  key = (await runJson(['key', 'create', '--org', 'acme', '--name', 'first', '--scopes', 'read'], local)).key
  remote = { ...local, CLOUD_ANALYTICS_SERVER: server.url, CLOUD_ANALYTICS_KEY: key }
})
afterAll(async () => {
  // again, where only some of the tests ran
  await server.end()
  folder.remove()
})

/** Returns the lines that a command prints on a terminal with so many columns. */
async function onTerminal(columns: number, args: readonly string[], more: Record<string, string> = {}) {
  const words = [...PROGRAM, ...args].map((word) => `'${word}'`).join(' ')
  const terminal = Bun.spawn({
    cmd: ['script', '-qefc', `stty cols ${columns} rows 50; ${words}`, '/dev/null'],
    env: { PATH: process.env.PATH ?? '', TERM: 'xterm', LOG_LEVEL: 'warn', ...local, ...more },
    stdin: 'ignore',
    stdout: 'pipe',
  })
  const text = await terminal.stdout.text()
  expect(await terminal.exited, text).toBe(0)
  return text.replaceAll('\r', '').trimEnd().split('\n')
}

const plain = (lines: readonly string[]) => lines.map((line) => Bun.stripANSI(line))

describe('--json', () => {
  test.each([
    [['cost', ...MARCH], '/cost?date_from=2026-03-01&date_to=2026-03-31'],
    [
      ['cost', '--project', 'checkout', '--group-by', 'month', '--from', '2026-01-01', '--to', '2026-12-31'],
      '/cost?project=checkout&group_by=month&date_from=2026-01-01&date_to=2026-12-31',
    ],
    [
      ['cost', '--by', 'project', '--and-by', 'model', '--min-cost', '1', '--per-page', '2', ...MARCH],
      '/cost/breakdown?by=project&and_by=model&min_cost=1&per_page=2&date_from=2026-03-01&date_to=2026-03-31',
    ],
    [
      ['cost', '--by', 'week', ...MARCH],
      '/cost/breakdown?by=week&sort=key&order=asc&date_from=2026-03-01&date_to=2026-03-31',
    ],
    [
      ['sessions', '--member', 'ADA@example.com', '--sort', 'turns', '--order', 'asc', ...MARCH],
      '/sessions?member=ADA@example.com&sort=turns&order=asc&date_from=2026-03-01&date_to=2026-03-31',
    ],
    [
      ['sessions', '--agent', 'claude-code', '--model', 'claude-sonnet-4-5', '--branch', 'main', ...MARCH],
      '/sessions?agent=claude-code&model=claude-sonnet-4-5&branch=main&date_from=2026-03-01&date_to=2026-03-31',
    ],
    [
      ['quality', '--project', 'checkout', ...MARCH],
      '/quality?project=checkout&date_from=2026-03-01&date_to=2026-03-31',
    ],
    [
      ['explain', '--by', 'model', '--against', '2026-02-01..2026-02-28', ...MARCH],
      '/cost/explain?by=model&against=2026-02-01..2026-02-28&date_from=2026-03-01&date_to=2026-03-31',
    ],
    [['risk', '--rating', 'high', '--page', '1'], '/risk?rating=high&page=1'],
    [
      ['outcomes', '--by', 'project', '--from', '2026-01-01', '--to', '2026-12-31'],
      '/outcomes?by=project&date_from=2026-01-01&date_to=2026-12-31',
    ],
    [['team'], '/team'],
  ])('%p prints the body of the API, of the local database and of a server', async (args, path) => {
    const response = await fetch(`${server.url}/v1${path}`, { headers: { authorization: `Bearer ${key}` } })
    expect(response.status).toBe(200)
    const body = (await response.text()).replaceAll('\u202e', '\\u202e')
    const { searchParams } = new URL(path, server.url)
    const range = { from: searchParams.get('date_from'), to: searchParams.get('date_to') }
    // an explanation names its range itself
    const expected =
      range.from === null || args[0] === 'explain'
        ? body
        : `${body.slice(0, -1)},"range":${JSON.stringify(range)}}`
    for (const [words, env] of [
      [[...args, '--org', 'acme'], { ...local, LOG_LEVEL: 'info' }],
      [args, remote],
    ] as const) {
      const { code, stdout, stderr } = await run([...words, '--json'], env)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
      expect(stdout).toBe(`${expected}\n`)
    }
  })

  test('without --from the last 30 days, up to --to', async () => {
    const ids = async (...args: string[]) =>
      (await runJson(['sessions', '--org', 'acme', ...args], local)).data.map(({ id }: { id: string }) => id)
    expect((await runJson(['quality', '--org', 'acme', '--to', '2026-03-31'], local)).range).toEqual({
      from: '2026-03-02',
      to: '2026-03-31',
    })
    const today = () => new Date().toISOString().slice(0, 10)
    const before = today()
    const { to } = (await runJson(['quality', '--org', 'acme'], local)).range
    expect([before, today()]).toContain(to)
    expect(await ids()).toEqual(['sess_now'])
    expect(await ids('--to', '2026-03-31')).toEqual(['sess_three', 'sess_two', 'sess_one'])
    expect(await ids('--to', '2026-04-01')).toEqual(['sess_three', 'sess_two'])
    expect(await ids('--from', '2026-03-03')).toEqual(['sess_now', 'sess_three', 'sess_two'])
  })
})

describe('on a terminal', () => {
  test('of 80 columns texts are cut and columns left out; of 200 all is shown; a pipe gets all', async () => {
    const breakdown = ['cost', '--by', 'project', '--org', 'acme', ...MARCH]
    expect(plain(await onTerminal(80, breakdown))).toEqual([
      'Cost by project from 2026-03-01 to 2026-03-31: $37.50',
      '',
      'PROJECT                   SESSIONS  TURNS  TOKENS       COST   SHARE',
      'checkout                         1     10    2.5M     $30.00   80.0%  ██████████',
      'データベース管理システ…          1  1,234    2.5M      $7.50   20.0%  ██▌',
      '\\u001b[2J\\u202eevil\\u00…         1     10    2.5M  $0.000213    0.0%  ▏',
      'total                            3  1,254    7.6M     $37.50  100.0%',
      '',
      '3 of 3 projects, page 1 of 1',
    ])
    const piped = (await run(breakdown, local)).stdout.trimEnd().split('\n')
    const wide = plain(await onTerminal(200, breakdown))
    const head = 'TOKENS  INPUT  OUTPUT  CACHE READ  CACHE WRITE       COST   SHARE'
    for (const lines of [wide, piped]) {
      expect(lines[2]).toEndWith(head)
      expect(lines[4]).toStartWith('データベース管理システムのとても長い名前のプロジェクト  ')
      expect(lines[5]).toStartWith('\\u001b[2J\\u202eevil\\u000anext  ')
    }
    expect(wide[3]).toEndWith(`80.0%  ${'█'.repeat(40)}`)
    expect(piped[3]).toEndWith(`80.0%  ${'█'.repeat(20)}`)
  })

  test('a change of too few has no figures, and no line for them', async () => {
    const who = '--kind setting --week 2026-03-02 --unit member --members ada@example.com'.split(' ')
    const { id } = await runJson(['effects', 'add', 'Strict types', '--org', 'acme', ...who], local)
    const { code, stdout } = await run(['effects', 'show', id, '--org', 'acme'], local)
    expect({ code, lines: stdout.trimEnd().split('\n') }).toEqual({
      code: 0,
      lines: [
        'Strict types, since the week of 2026-03-02',
        '',
        'verdict:     Too few: nobody can be compared with their own past, it needs five',
        'effect:      –',
        'measure:     cost per prompt, own past',
        'weeks:       8 before, 4 after',
        'who:         0 changed, 0 others',
        '',
        'Members were not assigned: work that became harder that very week looks the same.',
      ],
    })
  })

  test('sessions, quality, risk and team at 80 columns, from a server', async () => {
    const shown = async (...args: string[]) => plain(await onTerminal(80, args, remote))
    expect(await shown('sessions', '--per-page', '2', ...MARCH)).toEqual([
      'Sessions from 2026-03-01 to 2026-03-31; times are UTC',
      '',
      'SESSION     PROJECT             BEGAN             QUALITY       COST',
      'sess_three  \\u001b[2J\\u202eev…  2026-03-03 12:00     80.0  $0.000213  ▏',
      'sess_two    データベース管理…   2026-03-03 11:30     45.3      $7.50  ██████████',
      '',
      '1,244 turns and $7.50 on this page',
      '2 of 3 sessions, page 1 of 2; next page: the same with --page 2',
    ])
    expect(await shown('quality', ...MARCH)).toEqual([
      'Quality from 2026-03-01 to 2026-03-31: 68.42 of 100 in 3 sessions',
      '',
      'DAY         SCORE',
      `2026-03-02  80.00  ${'█'.repeat(32)}`,
      `2026-03-03  62.63  ${'█'.repeat(25)}`,
    ])
    // (45.25 + 80) / 2, and 80
    expect((await shown('quality', '--from', '2026-03-03', '--to', '2026-03-03'))[0]).toBe(
      'Quality from 2026-03-03 to 2026-03-03: 62.63 of 100 in 2 sessions, -17.37 points against the 1 day before',
    )
    expect(await shown('risk')).toEqual([
      'Risk of pull requests, newest first; 0 to 100, high is bad',
      '',
      'REPOSITORY      PR  TITLE                               RATING  RISK',
      'acme/checkout  128  Fix rounding of refunds when seve…  high      65  ██████▌',
      '',
      '1 of 1 pull requests, page 1 of 1',
    ])
    const team = await shown('team')
    expect(team.slice(0, 5)).toEqual([
      '2 members, 1 active; 1 session in the last 7 days',
      '',
      'NAME  EMAIL            ROLE       JOINED       COST  SESSIONS',
      `Ada   ada@example.com  admin      2026-01-05  $2.00         1  ${'█'.repeat(17)}`,
      '田中  bo@example.com   developer  2026-01-05  $0.00         0',
    ])
    expect(team[6]).toMatch(/^Sessions and cost from \d{4}-\d\d-\d\d on\.$/)
  })

  test('the summary of cost has days, projects and the budget', async () => {
    const { stdout } = await run(['cost', '--org', 'acme', ...MARCH], local)
    const month = new Date().toISOString().slice(0, 7)
    for (const part of [
      'Cost from 2026-03-01 to 2026-03-31: $37.50\n',
      `\n▁█▃${'▁'.repeat(28)}  $30.00 at most in a day\n`,
      'Largest changes against the 31 days before; of all +$37.50 (new)\n',
      /PROJECT +BEFORE +COST +CHANGE\ncheckout +\$0\.00 +\$30\.00 +\+\$30\.00 \(new\)\n/,
      `2026-03-02  $30.00  ${'█'.repeat(20)}\n2026-03-03   $7.50  █████\n`,
      'checkout ',
    ])
      expect(stdout).toMatch(part)
    // the budget of the running month is said of that month, and of what the filters leave
    expect(stdout).not.toContain('Budget')
    const summary = async (...words: string[]) =>
      (await run(['cost', '--org', 'acme', ...words], local)).stdout.split('\n\n').at(-1)
    expect(await summary()).toStartWith(`Budget of ${month}: $`)
    expect(await summary()).toContain(' of $100.00\n')
    expect(await summary('--project', HOSTILE.slice(-4))).toBe(
      'This month, next: $0.00. No budget: cloud-analytics budget set --org acme --project next --limit USD\n',
    )
    const ascii = await run(['cost', '--org', 'acme', '--project', 'checkout', ...MARCH], {
      ...local,
      LC_ALL: 'C',
    })
    expect(ascii.stdout).toContain(`\n_#${'_'.repeat(29)}  $30.00 at most in a day\n`)
    expect(ascii.stdout).toMatch(/\nMODEL +BEFORE +COST +CHANGE\nclaude-opus-4-5 /)
    expect(ascii.stdout).toContain(`\n2026-03-02  $30.00  ${'#'.repeat(20)}\n`)
  })

  test('what has no project is (none), and is asked for by an empty name', async () => {
    await runJson(['org', 'create', '--slug', 'few', '--name', 'few', '--plan', 'cloud_team'], local)
    const records = [
      session('of-none', '2026-03-02T10:00:00Z', { project_name: null, estimated_cost: 3 }),
      session('of-one', '2026-03-02T11:00:00Z', { estimated_cost: 1, quality_score: 40 }),
    ]
    const lines = records.map((record) => `${JSON.stringify(record)}\n`).join('')
    await run(['import', '-', '--org', 'few'], local, lines)
    const shown = async (...args: string[]) => (await run([...args, '--org', 'few', ...MARCH], local)).stdout
    const all = await shown('cost')
    expect(all).toContain('2026-03-31: $4.00\n')
    expect(all).toMatch(/\n\(none\) +\$3\.00 +75/)
    expect(all).toMatch(/\ncheckout +\$1\.00 +25/)
    expect(await shown('cost', '--project', '')).toStartWith('Cost without a project from 2026-03-01')
    expect(await shown('quality', '--project', '')).toContain(': 80 of 100 in 1 session')
    const listed = await shown('sessions', '--project', '')
    expect(listed).toMatch(/sess_of-none +\(none\)/)
    expect(listed).not.toContain('of-one')
  })

  test('colours by NO_COLOR and FORCE_COLOR, never into a pipe by themselves', async () => {
    const args = ['quality', '--org', 'acme', ...MARCH]
    const isColoured = (text: string) => text.includes('\u001b[')
    const terminal = async (more: Record<string, string>) =>
      isColoured((await onTerminal(80, args, more)).join('\n'))
    const pipe = async (more: Record<string, string>) =>
      isColoured((await run(args, { ...local, ...more })).stdout)
    expect([await terminal({}), await terminal({ NO_COLOR: '' })]).toEqual([true, true])
    expect(await terminal({ NO_COLOR: '1', FORCE_COLOR: '1' })).toBe(false)
    expect([await pipe({}), await pipe({ FORCE_COLOR: '1' })]).toEqual([false, true])
    expect(screenOf({ TERM: 'dumb' }, { isTTY: true, columns: 0 })).toEqual({
      width: 80,
      colour: false,
      unicode: true,
    })
    expect(screenOf({ FORCE_COLOR: '0' }, { isTTY: true, columns: 99 })).toEqual({
      width: 99,
      colour: false,
      unicode: true,
    })
  })
})

describe('what is empty names the next command', () => {
  test.each([
    ['cost', 'cloud-analytics sync ~/.claude/projects --org empty'],
    ['cost --by day', 'cloud-analytics cost --by day --org empty --from 2020-01-01'],
    ['cost --project x', 'cloud-analytics cost --org empty\n'],
    ['sessions', 'cloud-analytics sync ~/.claude/projects --org empty'],
    ['sessions --agent codex', 'cloud-analytics sessions --org empty\n'],
    ['quality', 'cloud-analytics sync ~/.claude/projects --org empty'],
    ['risk', 'cloud-analytics sync ~/code/checkout --org empty'],
    ['risk --rating low', 'cloud-analytics risk --org empty\n'],
    ['team', 'cloud-analytics member add --org empty --email'],
  ])('%s', async (args, next) => {
    const { code, stdout } = await run([...args.split(' '), '--org', 'empty'], local)
    expect(code).toBe(0)
    expect(stdout).toContain(next)
  })

  test('a cost of merged pull requests is said from half of the cost linked on', async () => {
    await runJson(['org', 'create', '--slug', 'merged', '--name', 'merged', '--plan', 'cloud_team'], local)
    const said = async (...records: object[]) => {
      await run(
        ['import', '-', '--org', 'merged'],
        local,
        records.map((one) => `${JSON.stringify(one)}\n`).join(''),
      )
      return (await run(['outcomes', '--org', 'merged', ...MARCH], local)).stdout
    }
    const pullRequest = RECORDS.find((record) => 'pr_number' in record)
    const merged = { ...pullRequest, state: 'merged', merged_at: '2026-03-21T10:00:00Z' }
    const linked = { pull_requests: [{ repo: 'acme/checkout', number: 128 }] }
    const few = await said(
      merged,
      session('linked', '2026-03-20T10:00:00Z', { estimated_cost: 4, ...linked }),
      session('other', '2026-03-20T10:00:00Z', { estimated_cost: 4.01 }),
    )
    expect(few).toStartWith('Outcomes from 2026-03-01 to 2026-03-31: 1 merged\n')
    expect(few).toMatch(/2026-03-01 +1 +0 +0 +\$8\.01 +\$4\.00 +–/)
    const half = await said(session('more', '2026-03-20T10:00:00Z', { estimated_cost: 0.01, ...linked }))
    expect(half).toStartWith('Outcomes from 2026-03-01 to 2026-03-31: 1 merged, $4.01 each')
  })

  test('a page behind the last one', async () => {
    const { stdout } = await run(['sessions', '--org', 'acme', '--page', '9', ...MARCH], local)
    expect(stdout).toBe('page 9 is empty: there is 1 page\n')
  })
})

test.each([
  [['cost', '--by', 'colour', '--org', 'acme'], '--by <key>'],
  [['cost', '--by', 'day', '--and-by', 'day', '--org', 'acme'], '--and-by must not be the same as --by'],
  [['cost', '--member', 'a@b.c', '--org', 'acme'], '--member needs --by'],
  [['cost', '--by', 'day', '--group-by', 'week', '--org', 'acme'], '--group-by is for cost without --by'],
  [
    ['sessions', '--from', '2026-02-30', '--per-page', '101', '--org', 'acme'],
    '--per-page must be an integer',
  ],
  [
    ['sessions', '--from', '2026-02-30', '--server', 'http://127.0.0.1:1', '--key', 'KEY'],
    '--from must be a date',
  ],
  [
    ['quality', '--from', '2026-02-02', '--to', '2026-02-01', '--org', 'acme'],
    '--from must not be after --to',
  ],
  [['team', '--org', 'acme', '--server', 'http://127.0.0.1:1'], 'a key knows its organization'],
  [['risk'], 'give --org for the local database, or sign in'],
])('%p is wrong usage', async (args, message) => {
  const words = args.map((word) => (word === 'KEY' ? key : word))
  const { code, stdout, stderr } = await run([...words, '--json'], local)
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(message)
})

test('what a key may not see is left out or refused; what is no server of ours is named', async () => {
  const create = ['key', 'create', '--org', 'acme', '--name', 'x', '--scopes']
  const team = { ...remote, CLOUD_ANALYTICS_KEY: (await runJson([...create, 'team:read'], local)).key }
  const cost = { ...remote, CLOUD_ANALYTICS_KEY: (await runJson([...create, 'cost:read'], local)).key }
  const shown = await run(['team'], team)
  expect(shown.stdout).toContain('need a key with the scope cost:read')
  expect(shown.stdout).not.toContain('COST')
  expect(await run(['cost'], team)).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `error: ${server.url} refuses: This needs an API key with the scope cost:read\n`,
  })
  const byMember = ['cost', '--by', 'member', ...MARCH]
  expect((await run(byMember, remote)).stdout).toContain('ada@example.com')
  expect((await run(byMember, cost)).stdout).toContain('user_ada')

  const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response('hello') })
  const elsewhere = { ...remote, CLOUD_ANALYTICS_SERVER: `http://127.0.0.1:${other.port}` }
  const answered = await run(['cost'], elsewhere)
  expect(answered).toMatchObject({ code: 1, stdout: '' })
  expect(answered.stderr).toContain('is not Cloud Analytics')
  await other.stop()
})

test('of many projects the dearest are shown; each of many members has its sessions', async () => {
  const many = Array.from({ length: 101 }, (_, index) => index + 1)
  const email = (n: number) => `dev${n}@example.com`
  const member = { type: 'member', role: 'developer', joined_at: '2026-01-05T00:00:00Z' }
  // The largest changes are of days that are over.
  const began = new Date(Date.now() - 86_400_000).toISOString()
  const records = [
    ...many.map((n) => ({ ...member, email: email(n), display_name: `Dev ${n}` })),
    ...many.map((n) =>
      session(`many_${n}`, began, {
        estimated_cost: n,
        project_name: `project-${n % 25}-${'x'.repeat(150)}`,
        user_email: email(n),
      }),
    ),
    session('others', began, { estimated_cost: 0.5, user_email: 'nobody@example.com' }),
  ]
  await runJson(['org', 'create', '--slug', 'many', '--name', 'many', '--plan', 'cloud_team'], local)
  const text = records.map((record) => `${JSON.stringify(record)}\n`).join('')
  expect(await runJson(['import', '-', '--org', 'many'], local, text)).toMatchObject({ skipped: 0 })
  const cost = plain(await onTerminal(80, ['cost', '--org', 'many']))
  // the three that changed most are named above them
  expect(cost.filter((line) => line.startsWith('project-'))).toHaveLength(23)
  expect(cost).toContain('and 6 more: cost --by project')
  expect(cost.filter((line) => Bun.stringWidth(line) > 80 && !line.includes('No budget'))).toEqual([])
  const team = (await run(['team', '--org', 'many'], local)).stdout.split('\n')
  for (const n of many)
    expect(team).toContainEqual(expect.stringMatching(new RegExp(`${email(n)} .* \\$${n}\\.00 +1  █{20}$`)))
  expect(team.at(-2)).toEndWith(' Of no member: 1 session, $0.50.')
})

describe('tables', () => {
  const rows = [
    { name: 'a'.repeat(60), other: '日本語'.repeat(10), figure: 1_000 },
    { name: 'b', other: '👩‍👩‍👧'.repeat(9), figure: 1 },
  ]
  test.each([40, 60, 80, 120, 200])('are never wider than a terminal of %d columns', (width) => {
    const text = draw(
      { width, colour: false, unicode: true },
      rows,
      [
        { head: 'NAME', value: ({ name }) => name, least: 5 },
        { head: 'OTHER', value: ({ other }) => other, least: 5 },
        { head: 'FIGURE', value: ({ figure }) => figure, right: true },
        { head: 'TWICE', value: ({ figure }) => 2 * figure, right: true, spare: 1 },
      ],
      { fraction: ({ figure }) => figure / 1_000 },
    )
    const widths = text.split('\n').map((line) => Bun.stringWidth(line))
    expect(Math.max(...widths)).toBeLessThanOrEqual(width)
    expect(Math.max(...widths)).toBeGreaterThan(width - 3 - (width === 200 ? 20 : 0))
    expect(text.split('\n')[1]).toContain('1000')
  })

  test('a sparkline has a character for each value, or for some of many', () => {
    const unicode = { width: 80, colour: false, unicode: true }
    expect(sparkOf(unicode, [0, 0.01, 50, 100])).toBe('▁▂▅█')
    expect(sparkOf(unicode, [0, 0])).toBe('▁▁')
    expect(sparkOf({ ...unicode, unicode: false }, [0, 0.01, 50, 100])).toBe('_.=#')
    const many = sparkOf(
      unicode,
      Array.from({ length: 365 }, (_, day) => day),
    )
    expect([many.length, many[0], many.at(-1)]).toEqual([53, '▂', '█'])
  })

  test('the locale says whether a screen has more than ASCII', () => {
    const hasUnicode = (env: Record<string, string>) => screenOf(env).unicode
    expect([{}, { LANG: 'de_DE.UTF-8' }, { LC_ALL: 'C.utf8', LANG: 'C' }].map(hasUnicode)).toEqual([
      ...[true, true, true],
    ])
    expect([{ LANG: 'C' }, { LC_ALL: 'POSIX', LANG: 'en_US.UTF-8' }].map(hasUnicode)).toEqual([false, false])
  })

  test('a text is cut between characters, a bar shows eighths', () => {
    expect([
      cutToWidth('日本語', 6),
      cutToWidth('日本語', 5),
      cutToWidth('日本語', 4),
      cutToWidth('abc', 1),
    ]).toEqual(['日本語', '日本…', '日…', '…'])
    expect(
      [0, 0.0001, 0.5, 0.53, 1, 7].map((fraction) =>
        barOf({ width: 80, colour: false, unicode: true }, fraction, 4),
      ),
    ).toEqual(['', '▏', '██', '██▏', '████', '████'])
  })
})

test('without a server on the data directory the database is started for the command', async () => {
  expect((await server.end()).code).toBe(0)
  const shown = await run(['cost', '--by', 'model', '--org', 'acme', ...MARCH], local)
  expect(shown.stdout).toContain('claude-opus-4-5 ')
  const asked = await run(['cost'], remote)
  expect(asked).toMatchObject({ code: 1, stdout: '' })
  expect(asked.stderr).toContain('cannot be reached')
})
