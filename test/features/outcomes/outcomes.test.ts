import { expect, test } from 'bun:test'
import { client, got, jsonPost, newOrg, PLENTY, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { commitRecord, memberRecord, numbersFrom } from '../../support/records.ts'

// GET /v1/outcomes against sums by hand over the records, for each key and many filters.

const NOW = new Date('2026-07-20T12:00:00Z')
const GROUPS = ['month', 'week', 'project', 'repo', 'member', 'team', 'agent'] as const
type Group = (typeof GROUPS)[number]

const database = await testsDatabase()
const below = numbersFrom(3)
const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item
const at = () => new Date(Date.parse('2026-05-20T00:00:00Z') + below(60 * 24) * 3_600_000).toISOString()

const PROJECTS = ['checkout', 'shop', 'docs']
/** Sessions may also have a repository's whole name, or no project. */
const OF_SESSIONS = [...PROJECTS, 'acme/shop', null]
/** docs has no pull request. */
const REPOS = { 'acme/checkout': 'checkout', 'acme/shop': 'shop' } as const
type Repo = keyof typeof REPOS
const USERS = [{ user_id: 'user_ada' }, { user_email: 'bob@example.com' }, {}]
const EMAILS = ['ada@example.com', 'bob@example.com', 'guest@example.com']

const sessions = Array.from({ length: 90 }, (_, index) => ({
  ...{ type: 'session', id: `sess_${index}`, project_name: pick(OF_SESSIONS), created_at: at(), turns: 1 },
  ...{ estimated_cost: (below(30_000) * 100 + below(100)) / 1e6, source: pick(['codex', 'claude-code']) },
  ...(pick(USERS) as { user_id?: string; user_email?: string }),
  ...(below(2) === 0 && {
    pull_requests: Array.from({ length: 1 + below(2) }, () => ({
      repo: pick(Object.keys(REPOS)),
      number: 1 + below(12),
    })),
  }),
}))
const pullRequests = Object.keys(REPOS).flatMap((repo) =>
  Array.from({ length: 11 }, (_, index) => {
    const created_at = at()
    const ended = new Date(Date.parse(created_at) + below(9) * 86_400_000).toISOString()
    return {
      ...{ type: 'pr_risk', id: `risk_${REPOS[repo as Repo]}_${index}`, repo, pr_number: index + 1 },
      ...{ pr_title: 'A change', files_changed: 1, created_at },
      // without it the repository's name
      ...(below(3) > 0 && { project: REPOS[repo as Repo] }),
      ...{ impact_score: 1, regression_score: 1, security_score: 1, coupling_score: 1 },
      ...(below(5) > 0 && { author_email: pick(EMAILS).toUpperCase() }),
      ...pick([
        { state: 'open' },
        { state: 'merged', merged_at: ended },
        { state: 'merged', merged_at: ended, closed_at: ended },
        { state: 'closed', closed_at: ended },
      ]),
    }
  }),
) as {
  id: string
  repo: Repo
  pr_number: number
  created_at: string
  author_email?: string
  state: 'open' | 'merged' | 'closed'
  merged_at?: string
  closed_at?: string
}[]
const commits = Array.from({ length: 70 }, (_, index) => {
  const [codex, claude] = [below(50), below(50)]
  const left = (days: number) => ({ days, lines: below(codex + claude + 1) })
  const ai = {
    ...{ lines: codex + claude, effective_lines: codex + claude + below(90), provenance: 'transcript' },
    ...{ by_agent: { codex, 'claude-code': claude }, sessions: ['sess_1'] },
  }
  return {
    ...{ type: 'commit', project: pick(PROJECTS), sha: `c${index}`, author_email: pick(EMAILS) },
    ...{ author_name: 'Somebody', committed_at: at(), files: [] },
    ...(below(4) > 0 && {
      ai,
      ...(below(2) === 0 && { survival: [left(14)] }),
      ...(below(3) === 0 && { survival: [left(14), left(30)] }),
    }),
    ...(below(2) === 0 && { on_default_branch: pick([true, false]) }),
  }
}) as {
  project: string
  author_email: string
  committed_at: string
  ai?: { lines: number; effective_lines: number; by_agent: Record<string, number> }
  survival?: { days: number; lines: number }[]
  on_default_branch?: boolean
}[]

const send = (records: object[]) => got(client(app, owner.key)('/v1/sync', jsonPost({ records })))
const get = <Body>(path: string) => got<Body>(client(app, owner.key)(path))

interface Part {
  session: (typeof sessions)[number]
  pullRequest: (typeof pullRequests)[number]
  micros: number
}
const parts: Part[] = []
const micros = (dollars: number) => Math.round(dollars * 1e6)

const app = testApp(database.sql, { now: () => NOW, config: { rateLimits: PLENTY } })
const owner = await newOrg(database.sql)
const ada = memberRecord('ada', { team: 'payments' })
await send([ada, ...commits.slice(0, 30), ...sessions])
await send([...pullRequests, ...commits])
for (const pullRequest of pullRequests) {
  const { data } = (
    await get<{ sessions: { data: { id: string; part: number }[] } }>(`/v1/risk/${pullRequest.id}`)
  ).sessions
  for (const { id, part } of data) {
    const session = sessions.find((one) => one.id === id)
    if (session !== undefined) parts.push({ session, pullRequest, micros: micros(part) })
  }
}
expect(parts.length).toBeGreaterThan(30)

const monthOf = (day: string) => `${day.slice(0, 7)}-01`
const weekOf = (day: string) => {
  const date = new Date(`${day}T00:00:00Z`)
  date.setUTCDate(date.getUTCDate() - ((date.getUTCDay() + 6) % 7))
  return date.toISOString().slice(0, 10)
}
const repoOf = (project: string | null): string | null =>
  Object.entries(REPOS).find((names) => names.includes(project ?? ''))?.[0] ?? null
const memberOf = (address: string | undefined): string | null =>
  address === undefined
    ? null
    : address.toLowerCase() === 'ada@example.com'
      ? 'user_ada'
      : address.toLowerCase()

interface Facts {
  day: string
  project: string | null
  repo: string | null
  member: string | null
  agent?: string | null
}
const keyOf = (by: Group | null, facts: Facts): string | null => {
  if (by === null) return null
  if (by === 'month') return monthOf(facts.day)
  if (by === 'week') return weekOf(facts.day)
  return by === 'team' ? teamOf(facts) : (facts[by] ?? null)
}
const teamOf = ({ member }: Pick<Facts, 'member'>) => (member === 'user_ada' ? 'payments' : null)
const factsOfSession = (session: (typeof sessions)[number]): Facts => ({
  day: session.created_at.slice(0, 10),
  project: session.project_name,
  repo: repoOf(session.project_name),
  member: session.user_id ?? memberOf(session.user_email),
  agent: session.source,
})

interface Filters {
  project?: string
  repo?: string
  member?: string
  team?: string
  date_from?: string
  date_to?: string
}

/** Outcomes by the definitions, record by record. */
function byHand(by: Group | null, filters: Filters) {
  const groups = new Map<string | null, ReturnType<typeof nothing>>()
  const nothing = () => ({
    ...{
      open: 0,
      merged: 0,
      closed: 0,
      cost: 0,
      linked: 0,
      linkedOfCost: 0,
      commits: 0,
      effective: 0,
      ai: 0,
    },
    ...{ lines14: 0, of14: 0, lines30: 0, of30: 0 },
  })
  const group = (key: string | null) => {
    const known = groups.get(key) ?? nothing()
    groups.set(key, known)
    return known
  }
  const matches = (facts: Facts) =>
    (filters.project === undefined || (facts.project ?? '') === filters.project) &&
    (filters.repo === undefined || facts.repo === filters.repo) &&
    (filters.member === undefined || facts.member === filters.member) &&
    (filters.team === undefined || (teamOf(facts) ?? '') === filters.team) &&
    facts.day >= (filters.date_from ?? '') &&
    facts.day <= (filters.date_to ?? '9999')
  for (const session of sessions) {
    const facts = factsOfSession(session)
    if (matches(facts)) group(keyOf(by, facts)).cost += micros(session.estimated_cost)
  }
  for (const { session, micros: part } of parts) {
    const facts = factsOfSession(session)
    if (matches(facts)) group(keyOf(by, facts)).linkedOfCost += part
  }
  for (const pullRequest of pullRequests) {
    const { state, merged_at, closed_at, created_at, repo } = pullRequest
    const ended = state === 'merged' ? merged_at : state === 'closed' ? closed_at : created_at
    const day = (ended ?? created_at).slice(0, 10)
    const facts = { day, project: REPOS[repo], repo, member: memberOf(pullRequest.author_email) }
    if (!matches(facts)) continue
    const own = parts.filter((part) => part.pullRequest === pullRequest)
    const agents = by === 'agent' ? [...new Set(own.map(({ session }) => session.source))] : [undefined]
    for (const agent of agents) {
      const sums = group(by === 'agent' ? (agent ?? null) : keyOf(by, facts))
      sums[state] += 1
      for (const { session, micros: part } of own)
        if (agent === undefined || session.source === agent) sums.linked += part
    }
  }
  for (const commit of commits) {
    if (commit.on_default_branch === false) continue
    const day = commit.committed_at.slice(0, 10)
    const facts = {
      day,
      project: commit.project,
      repo: repoOf(commit.project),
      member: memberOf(commit.author_email),
    }
    if (!matches(facts)) continue
    if (by === 'agent') {
      for (const [agent, lines] of Object.entries(commit.ai?.by_agent ?? {})) group(agent).ai += lines
      continue
    }
    const sums = group(keyOf(by, facts))
    sums.commits += 1
    sums.effective += commit.ai?.effective_lines ?? 0
    sums.ai += commit.ai?.lines ?? 0
    for (const { days, lines } of commit.survival ?? []) {
      if (Date.parse(commit.committed_at) > NOW.getTime() - days * 86_400_000) continue
      sums[days === 14 ? 'lines14' : 'lines30'] += lines
      sums[days === 14 ? 'of14' : 'of30'] += commit.ai?.lines ?? 0
    }
  }
  const share = (a: number, b: number) => (b === 0 ? null : Math.round((a / b) * 1e6) / 1e6)
  return [...groups].map(([key, sums]) => ({
    key,
    pull_requests: { open: sums.open, merged: sums.merged, closed: sums.closed },
    merge_rate: share(sums.merged, sums.merged + sums.closed),
    cost: sums.cost / 1e6,
    linked_cost: sums.linked / 1e6,
    linked_share: share(sums.linkedOfCost, sums.cost),
    cost_per_merged_pull_request: share(sums.linked / 1e6, sums.merged),
    commits: by === 'agent' ? null : sums.commits,
    effective_lines: by === 'agent' ? null : sums.effective,
    ai_lines: sums.ai,
    ai_share: by === 'agent' ? null : share(sums.ai, sums.effective),
    survival:
      by === 'agent'
        ? null
        : {
            '14': { lines: sums.lines14, of: sums.of14, share: share(sums.lines14, sums.of14) },
            '30': { lines: sums.lines30, of: sums.of30, share: share(sums.lines30, sums.of30) },
          },
  }))
}

const FILTERS: Filters[] = [
  {},
  { project: 'checkout' },
  { repo: 'acme/shop' },
  { member: 'user_ada' },
  { team: 'payments' },
  { team: '', project: 'checkout', date_from: '2026-06-03' },
  { member: 'bob@example.com', date_from: '2026-06-03' },
  { date_from: '2026-06-10', date_to: '2026-07-04' },
  { project: 'docs', date_to: '2026-06-20' },
  { project: '' },
  { project: 'acme/shop' },
  { project: 'acme/shop', repo: 'acme/shop', date_from: '2026-06-03' },
]
for (const filters of FILTERS) {
  test(`each key with ${JSON.stringify(filters)}`, async () => {
    for (const by of GROUPS) {
      const query = new URLSearchParams({ by, per_page: '100', ...filters })
      const { data, total, pagination } = await get<{
        data: ReturnType<typeof byHand>
        total: object
        pagination: { total: number }
      }>(`/v1/outcomes?${query}`)
      const expected = byHand(by, filters)
      const isPeriod = by === 'month' || by === 'week'
      const sorted = [...expected].sort((a, b) => {
        if (!isPeriod && a.cost !== b.cost) return b.cost - a.cost
        return a.key === null ? 1 : b.key === null ? -1 : a.key < b.key ? -1 : 1
      })
      expect([by, data]).toEqual([by, sorted])
      expect(pagination.total).toBe(expected.length)
      const { key: _key, ...all } = byHand(null, filters)[0] ?? { key: null, cost: 0 }
      expect([by, total]).toMatchObject([by, all])
    }
  })
}

test('the total is compared with other days, or as many before', async () => {
  const of = (query: string) => get<{ total: object }>(`/v1/outcomes?by=project&${query}`)
  const { total: previous } = await of('date_from=2026-06-10&date_to=2026-06-14')
  const range = 'date_from=2026-06-15&date_to=2026-06-19'
  const { total } = await of(range)
  for (const compare of ['previous', '2026-06-10..2026-06-14'])
    expect((await of(`${range}&compare=${compare}`)).total).toEqual({ ...total, previous })
})

test('a later record keeps what it does not say, and a weaker proof replaces nothing', async () => {
  const made = commitRecord('p1', { project: 'proofs' })
  const commit = { ...made, committed_at: '2026-06-01T00:00:00Z', files: [] }
  const ai = (provenance: string, lines: number) => ({
    ...{ lines, effective_lines: 100, by_agent: { codex: lines }, provenance, sessions: [] },
  })
  const linesNow = async () =>
    (await get<{ total: { ai_lines: number } }>('/v1/outcomes?project=proofs')).total.ai_lines
  expect(await send([commit])).toMatchObject({ created: 1 })
  expect(await send([{ ...commit, ai: ai('transcript', 40) }])).toMatchObject({ updated: 1 })
  expect(await send([{ ...commit, ai: ai('transcript', 40) }])).toMatchObject({ unchanged: 1 })
  for (const [given, lines] of [
    [{}, 40],
    [{ ai: ai('transcript', 30) }, 40],
    [{ ai: ai('trailer', 90) }, 40],
    [{ ai: ai('none', 0) }, 40],
    [{ ai: ai('transcript', 50) }, 50],
    [{ ai: ai('note', 20) }, 20],
    [{ survival: [{ days: 14, lines: 12 }] }, 20],
    [{ survival: [{ days: 30, lines: 7 }] }, 20],
    // a laptop that proves less says what is left of fewer lines
    [{ ai: ai('note', 10), survival: [{ days: 14, lines: 3 }] }, 20],
    // the last word on the branch counts, whatever its proof
    [{ on_default_branch: false }, 0],
    [{ ai: ai('note', 20) }, 0],
    [{ ai: ai('none', 0), on_default_branch: true }, 20],
    [{ ai: ai('trailer', 0), on_default_branch: false }, 0],
    [{ ai: ai('note', 20), on_default_branch: null }, 0],
    [{ ai: ai('note', 20), on_default_branch: true }, 20],
  ] as const) {
    await send([{ ...commit, ...given }])
    expect([given, await linesNow()]).toEqual([given, lines])
  }
  const survivalNow = async () =>
    (await get<{ total: { survival: object } }>('/v1/outcomes?project=proofs')).total.survival
  expect(await survivalNow()).toEqual({
    '14': { lines: 12, of: 20, share: 0.6 },
    '30': { lines: 7, of: 20, share: 0.35 },
  })
  // lines that are replaced take their counts with them, whether by more lines or by fewer of a better proof
  await send([{ ...commit, ai: ai('note', 21), survival: [{ days: 30, lines: 21 }] }])
  expect(await survivalNow()).toEqual({
    '14': { lines: 0, of: 0, share: null },
    '30': { lines: 21, of: 21, share: 1 },
  })
  await send([{ ...commit, sha: 'p2', ai: ai('transcript', 4), survival: [{ days: 14, lines: 4 }] }])
  await send([{ ...commit, sha: 'p2', ai: ai('note', 2) }])
  expect(await survivalNow()).toMatchObject({ '14': { lines: 0, of: 0 }, '30': { lines: 21, of: 21 } })
})

test.each([
  ['ai.lines', { ai: { lines: 9, effective_lines: 8, by_agent: { codex: 9 } } }],
  ['ai.by_agent', { ai: { lines: 8, effective_lines: 8, by_agent: { codex: 4, gemini: 3 } } }],
  ['ai.by_agent', { ai: { lines: 1, effective_lines: 8, by_agent: {} } }],
  [
    'survival[1].lines',
    {
      ai: { lines: 3, effective_lines: 3, by_agent: { codex: 3 } },
      survival: [
        { days: 14, lines: 3 },
        { days: 30, lines: 4 },
      ],
    },
  ],
  // the lines are stored, or there are none
  ['survival[0].lines', { sha: 'stored', survival: [{ days: 14, lines: 6 }] }],
  ['survival[0].lines', { survival: [{ days: 30, lines: 1 }] }],
])('impossible lines: %s', async (field, given) => {
  const commit = { type: 'commit', project: 'impossible', sha: 'new', author_email: 'ada@example.com' }
  const more = { author_name: 'Ada', committed_at: '2026-06-01T00:00:00Z', files: [] }
  const proof = { provenance: 'note', sessions: [] }
  const stored = { lines: 5, effective_lines: 5, by_agent: { codex: 5 }, ...proof }
  const records = [
    { ...commit, ...more, sha: 'stored', ai: stored, survival: [{ days: 14, lines: 5 }] },
    { ...commit, ...more, ...given, ...('ai' in given && { ai: { ...proof, ...given.ai } }) },
  ]
  const response = await client(app, owner.key)('/v1/sync', jsonPost({ records }))
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({
    code: 'VALIDATION_ERROR',
    details: [{ field: `records[1].${field}` }],
  })
})

test('needs both scopes, and is empty without data', async () => {
  const narrow = await newOrg(database.sql, { scopes: ['cost:read'] })
  const refused = await client(app, narrow.key)('/v1/outcomes')
  expect([refused.status, ((await refused.json()) as { error: string }).error]).toEqual([
    403,
    'This needs an API key with the scope cost:read and risk:read',
  ])
  const both = await newOrg(database.sql, { scopes: ['cost:read', 'risk:read'] })
  const empty = await client(app, both.key)('/v1/outcomes?by=agent')
  expect(await empty.json()).toMatchObject({
    data: [],
    pagination: { total: 0 },
    total: { cost: 0, merge_rate: null, cost_per_merged_pull_request: null },
  })
})
