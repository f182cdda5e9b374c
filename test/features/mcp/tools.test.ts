import { expect, test } from 'bun:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createKey } from '../../../src/accounts/keys/queries.ts'
import { FACETS } from '../../../src/analysis/usage/model.ts'
import { createLog } from '../../../src/base/log.ts'
import { updateOrganization } from '../../../src/features/organization/queries.ts'
import { client, got, jsonPost, limitOf, newKey, newOrg, PLENTY, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'

// The tools for agents, by the official client of the Model Context Protocol.

const NOW = new Date('2026-06-15T12:00:00.000Z')
const MAX_BYTES = 25_600
const TOOLS = {
  cost_summary: 'cost:read',
  budget_left: 'cost:read',
  session_quality: 'sessions:read',
  top_findings: 'security:read',
  who_knows: 'team:read',
  risky_files: 'security:read',
  pr_risk: 'risk:read',
  did_it_pay: 'cost:read',
}
const ARGUMENTS: Record<string, object> = {
  session_quality: { session_id: 'sess_one' },
  who_knows: { paths: ['src/cart.ts'] },
  risky_files: { paths: ['src/cart.ts'] },
  pr_risk: { repo: 'acme/shop', pr_number: 7 },
}

const database = await testsDatabase()
/** Bodies of the responses to what clients sent. */
const bodies: string[] = []

const change = (path: string, additions: number, status = 'modified') => ({
  ...{ path, additions, deletions: 1, status },
})
const commit = (sha: string, author: string, at: string, files: object[]) => ({
  ...{ type: 'commit', project: 'shop', sha, author_email: `${author}@example.com`, author_name: author },
  ...{ committed_at: at, files },
})
const session = (id: string, fields: object = {}) => ({
  ...{ type: 'session', id, project_name: 'shop', created_at: '2026-06-10T10:00:00Z' },
  ...{ user_email: 'ada@example.com', turns: 3, estimated_cost: 1.25, quality_score: 80, ...fields },
})
const finding = (file: string, severity: string) => ({
  ...{ id: `finding_${file.replaceAll(/\W/g, '')}`, rule_id: 'aws', severity, title: 'A key', file },
  ...{ fingerprint: file.slice(-50), created_at: '2026-06-10T10:00:00Z' },
})
const member = (name: string) => ({
  ...{ type: 'member', id: `user_${name}`, email: `${name}@example.com`, display_name: `Dr ${name}` },
  ...{ role: 'developer', joined_at: '2026-01-01T00:00:00Z' },
})

const send = (records: object[], by = ask) => got(by('/v1/sync', jsonPost({ records })))

const app = testApp(database.sql, { now: () => NOW, config: { rateLimits: PLENTY } })
const owner = await newOrg(database.sql, { scopes: ['read', 'write', 'audit:write', 'admin'] })
const ask = client(app, owner.key)
await send([
  member('ada'),
  member('bob'),
  { type: 'budget', month: '2026-06', limit: 100 },
  session('sess_one', { security_metadata: { findings: [finding('src/cart.ts', 'critical')] } }),
  session('sess_two', {
    project_name: 'web',
    security_metadata: { findings: [finding('web/page.ts', 'low')] },
  }),
  commit('a1', 'ada', '2026-01-01T00:00:00Z', [change('src/cart.ts', 20, 'added')]),
  ...['a2', 'a3', 'a4'].map((sha) =>
    commit(sha, 'ada', `2026-02-0${sha[1]}T00:00:00Z`, [change('src/cart.ts', 5)]),
  ),
  ...['b1', 'b2', 'b3', 'b4', 'b5'].map((sha) =>
    commit(sha, 'bob', `2026-03-0${sha[1]}T00:00:00Z`, [
      change('src/bob.ts', 2, sha === 'b1' ? 'added' : 'modified'),
    ]),
  ),
  commit('c1', 'guest', '2026-04-01T00:00:00Z', [change('docs/guide.md', 9, 'added')]),
  {
    ...{
      type: 'effect',
      id: 'eff_1',
      source: 'recorded',
      name: 'AGENTS.md',
      kind: 'file',
      dismissed: false,
    },
    ...{ unit: 'repository', from_day: '2026-06-01' },
  },
  {
    ...{ type: 'pr_risk', repo: 'acme/shop', pr_number: 7, pr_title: 'Refund', files_changed: 1 },
    ...{ created_at: '2026-06-01T00:00:00Z', project: 'shop', author_email: 'ada@example.com' },
    files: [change('src/cart.ts', 4)],
  },
  {
    ...{ type: 'pr_risk', repo: 'acme/shop', pr_number: 8, pr_title: 'Bob', files_changed: 1 },
    ...{ created_at: '2026-06-02T00:00:00Z', commits: ['b2', 'b3'] },
    ...{ impact_score: 90, regression_score: 90, security_score: 90, coupling_score: 90 },
  },
])

/** A client with a key; of 2025 unless `revision` is one of 2026. */
async function connect(key: string, revision: 'legacy' | { pin: string } = 'legacy') {
  const mcp = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode: revision } })
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost/mcp'), {
    requestInit: { headers: { authorization: `Bearer ${key}` } },
    fetch: async (url, init) => {
      const response = await app.handle(new Request(String(url), init))
      if (init?.method === 'POST') bodies.push(await response.clone().text())
      return response
    },
  })
  await mcp.connect(transport)
  return mcp
}

const keyOf = async (scopes: string[], { orgId } = owner) => await newKey(database.sql, orgId, scopes)

/** The answer of a tool, with whether it is an error. */
async function call(mcp: Client, name: string, args: object = {}) {
  const { content, isError = false } = await mcp.callTool({ name, arguments: { ...args } })
  const [first] = content
  if (first?.type !== 'text') throw new Error('the answer is no text')
  expect(Buffer.byteLength(bodies.at(-1) ?? '')).toBeLessThan(MAX_BYTES)
  return { isError, answer: JSON.parse(first.text) }
}

const fromApi = async (path: string) => await (await ask(path)).json()

/** A message without a client. */
const post = (
  headers: Record<string, string> = {},
  body: unknown = { jsonrpc: '2.0', id: 1, method: 'ping' },
) =>
  ask('/mcp', {
    method: 'POST',
    headers: {
      ...{ 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers },
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

for (const revision of ['legacy', { pin: '2026-07-28' }] as const) {
  test(`each tool answers as its route does, to a client of ${JSON.stringify(revision)}`, async () => {
    const mcp = await connect(owner.key, revision)
    expect(mcp.getServerVersion()?.name).toBe('cloud-analytics')
    const { tools } = await mcp.listTools()
    expect(tools.map(({ name }) => name)).toEqual(Object.keys(TOOLS))

    const { data, total } = (await fromApi('/v1/cost/breakdown?by=project')) as Record<string, unknown>
    expect(await call(mcp, 'cost_summary')).toEqual({
      isError: false,
      answer: { data, total, pagination: { page: 1, per_page: 50, total: 2 }, next_page: null },
    })
    const day = { by: 'day', date_from: '2026-06-10', date_to: '2026-06-10', project: 'shop' }
    expect((await call(mcp, 'cost_summary', day)).answer.total.cost).toBe(1.25)
    const facets = { ...day, by: 'tier' }
    expect((await call(mcp, 'cost_summary', facets)).answer.data[0].key).toBe('standard')
    expect((await call(mcp, 'cost_summary', { paid_by: 'api' })).answer.data).toEqual([])

    const { current_budget } = (await fromApi('/v1/cost')) as { current_budget: object }
    expect((await call(mcp, 'budget_left')).answer).toEqual({
      ...{ current_budget, windows: [], next_page: null },
    })
    expect(current_budget).toMatchObject({ limit: 100, remaining: 97.5 })

    const changes = (await fromApi('/v1/effects')) as { data: { id: string }[] }
    expect(changes.data).toHaveLength(1)
    expect((await call(mcp, 'did_it_pay')).answer).toEqual({ ...changes, next_page: null })
    expect((await call(mcp, 'did_it_pay', { id: 'eff_1' })).answer).toEqual({
      ...changes.data[0],
      next_page: null,
    })

    const { quality_score, quality_metadata } = (await fromApi('/v1/sessions/sess_one')) as Record<
      string,
      unknown
    >
    expect((await call(mcp, 'session_quality', { session_id: 'sess_one' })).answer).toEqual({
      ...{ quality_score, quality_metadata, next_page: null },
    })

    const heatmap = (await fromApi('/v1/security/heatmap')) as { data: object[] }
    expect((await call(mcp, 'top_findings')).answer).toEqual({ ...heatmap, next_page: null })
    expect(heatmap.data).toHaveLength(2)
    expect((await call(mcp, 'top_findings', { project: 'web' })).answer.data).toEqual([heatmap.data[1]])

    const known = (await call(mcp, 'who_knows', { paths: ['./src/bob.ts'] })).answer
    expect(known.data.map((person: { user_id: string; score: number }) => person.user_id)).toEqual([
      ...['user_bob', 'user_ada'],
    ])
    expect(known.data[0]).toEqual({
      ...{ user_id: 'user_bob', display_name: 'Dr bob', score: 100 },
      domains: [expect.objectContaining({ domain: 'shop/src', files_owned: 1 })],
    })
    expect(known.domains.map(({ domain }: { domain: string }) => domain)).toEqual(['shop/src'])
    const guest = (await call(mcp, 'who_knows', { paths: ['docs/guide.md'] })).answer
    expect(guest.data).toMatchObject([{ user_id: null, display_name: 'guest', score: 100 }])

    // the route answers for one file
    expect(await fromApi('/v1/team/expertise?path=./src/bob.ts')).toEqual({
      data: known.data,
      domains: known.domains,
    })

    const paths = ['src/bob.ts', 'new.ts', 'src/cart.ts']
    expect((await call(mcp, 'risky_files', { paths, project: 'shop' })).answer).toEqual({
      data: [
        {
          path: 'src/cart.ts',
          heatmap: heatmap.data[0],
          churn: { commits: 4, additions: 35, deletions: 4 },
          owners: [{ user_id: 'user_ada', display_name: 'Dr ada', score: 100 }],
          pull_requests: [{ repo: 'acme/shop', pr_number: 7, rating: expect.any(String) }],
        },
        {
          path: 'src/bob.ts',
          heatmap: null,
          churn: { commits: 5, additions: 10, deletions: 5 },
          owners: [{ user_id: 'user_bob', display_name: 'Dr bob', score: 100 }],
          pull_requests: [{ repo: 'acme/shop', pr_number: 8, rating: 'critical' }],
        },
        {
          path: 'new.ts',
          heatmap: null,
          churn: { commits: 0, additions: 0, deletions: 0 },
          owners: [],
          pull_requests: [],
        },
      ],
      next_page: null,
    })
    const elsewhere = (await call(mcp, 'risky_files', { paths, project: 'web' })).answer
    expect(elsewhere.data[0]).toMatchObject({ heatmap: null, churn: { commits: 0 }, owners: [] })
    expect((await call(mcp, 'risky_files', { paths })).answer.data[0].path).toBe('src/cart.ts')

    const { data: risks } = (await fromApi('/v1/risk?repo=acme/shop')) as { data: { id: string }[] }
    const risk = (await fromApi(`/v1/risk/${risks[1]?.id}`)) as object
    expect((await call(mcp, 'pr_risk', { repo: 'acme/shop', pr_number: 7 })).answer).toEqual({
      ...risk,
      next_page: null,
    })
    await mcp.close()
  })
}

test('what does not exist and wrong arguments are errors that the model reads', async () => {
  const mcp = await connect(owner.key)
  const missing = await Promise.all([
    call(mcp, 'session_quality', { session_id: 'sess_none' }),
    call(mcp, 'session_quality', { session_id: '../cost' }),
    call(mcp, 'pr_risk', { repo: 'acme/shop', pr_number: 99 }),
  ])
  for (const { isError, answer } of missing) {
    expect(isError).toBe(true)
    expect(answer).toMatchObject({ code: 'NOT_FOUND', request_id: expect.any(String) })
  }
  const wrong = [
    ['cost_summary', { date_from: '2026-02-30' }, 'date_from'],
    ['cost_summary', { by: 'colour' }, 'by'],
    ['cost_summary', { tier: 'slow' }, 'tier'],
    ['cost_summary', { version: 'x', skill: 'y' }, 'skill'],
    ['cost_summary', { version: 7 }, 'version'],
    ['cost_summary', { colour: 'red' }, 'colour'],
    ['who_knows', { paths: [] }, 'paths'],
    ['risky_files', { paths: Array.from({ length: 1_001 }, (_, index) => `${index}.ts`) }, 'paths'],
    ['pr_risk', { repo: 'acme/shop' }, 'pr_number'],
  ] as const
  for (const [name, args, field] of wrong) {
    const { isError, answer } = await call(mcp, name, args)
    expect(isError).toBe(true)
    expect(answer).toMatchObject({ code: 'VALIDATION_ERROR', details: [{ field }] })
  }
  await expect(call(mcp, 'no_tool')).rejects.toThrow('There is no tool no_tool')
})

test('a fault of the database says nothing of it', async () => {
  const failing = Object.assign(
    () => {
      throw new Error('a table of ours')
    },
    { options: database.sql.options },
  )
  const lines: string[] = []
  const app = testApp(failing as never, {
    ...{ config: { rateLimits: PLENTY }, lookUp: (statement) => statement(database.sql) },
    log: createLog('error', 'json', (line) => lines.push(line)),
  })
  const params = { name: 'risky_files', arguments: { paths: ['a.ts'] } }
  const answer = await client(app, owner.key)('/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  })
  const text = await answer.text()
  expect(text).toContain('INTERNAL_ERROR')
  expect(text).not.toContain('a table of ours')
  expect(lines.join('')).toContain('a table of ours')
})

test('only the tools that the scopes allow are listed; another is refused, naming the scope', async () => {
  for (const scope of new Set(Object.values(TOOLS))) {
    const mcp = await connect(await keyOf([scope]))
    const { tools } = await mcp.listTools()
    const allowed = tools.map(({ name }) => name)
    expect(allowed).toEqual(Object.entries(TOOLS).flatMap(([name, need]) => (need === scope ? [name] : [])))
    for (const [name, need] of Object.entries(TOOLS)) {
      const { isError, answer } = await call(mcp, name, ARGUMENTS[name])
      expect([name, isError]).toEqual([name, need !== scope])
      if (isError) expect(answer).toMatchObject({ code: 'FORBIDDEN', error: expect.stringContaining(need) })
    }
  }
  const writer = await connect(await keyOf(['write']))
  expect((await writer.listTools()).tools).toEqual([])
})

test('without their scopes owners and pull requests are null, and members stay hidden', async () => {
  const { answer } = await call(await connect(await keyOf(['security:read'])), 'risky_files', {
    paths: ['src/cart.ts'],
  })
  expect(answer.data[0]).toMatchObject({ owners: null, pull_requests: null, heatmap: { risk_score: 25 } })
  const hiding = await newOrg(database.sql, { scopes: ['write', 'cost:read', 'security:read'] })
  await updateOrganization(database.sql, hiding.slug, { hide_members: true })
  await send([member('ada'), session('sess_hidden')], client(app, hiding.key))
  const mcp = await connect(hiding.key)
  const refused = await call(mcp, 'cost_summary', { by: 'member' })
  expect([refused.isError, refused.answer.code]).toEqual([true, 'FORBIDDEN'])
  expect((await call(mcp, 'cost_summary')).answer.total.cost).toBe(1.25)
})

test('nothing of another organization is seen', async () => {
  const other = await newOrg(database.sql)
  const mcp = await connect(other.key)
  for (const name of Object.keys(TOOLS)) {
    const { answer } = await call(mcp, name, ARGUMENTS[name])
    const text = JSON.stringify(answer)
    for (const word of ['Dr ', 'user_ada', 'shop"', '1.25', '97.5']) expect(text).not.toContain(word)
  }
})

test('large answers come in pages of less than 25,600 bytes, with each item once', async () => {
  const big = await newOrg(database.sql)
  const files = Array.from({ length: 260 }, (_, index) => `src/${'ä'.repeat(200)}-"${index}".ts`)
  const records = [0, 1, 2].map((part) =>
    session(`sess_big${part}`, {
      project_name: 'big',
      security_metadata: {
        findings: files
          .filter((_, index) => index % 3 === part)
          .map((file, index) => ({
            ...finding(file, 'low'),
            id: `finding_${part}x${index}`,
          })),
      },
    }),
  )
  await send([member('ada'), ...records], client(app, big.key))
  const mcp = await connect(big.key)
  const all = async (name: string, args: object) => {
    const seen: { file?: string; path?: string }[] = []
    let pages = 0
    for (let page: number | null = 1; page !== null; pages += 1) {
      const { answer } = await call(mcp, name, { ...args, page })
      seen.push(...answer.data)
      page = answer.next_page
      expect(page === null || Number.isInteger(page)).toBe(true)
    }
    return { names: seen.map(({ file, path }) => file ?? path).sort(), pages }
  }
  const found = await all('top_findings', {})
  expect(found.names).toEqual([...files].sort())
  expect(found.pages).toBeGreaterThan(6)
  const risky = await all('risky_files', { paths: files })
  expect(risky.names).toEqual([...files].sort())
  expect(risky.pages).toBeGreaterThan(2)
  expect((await call(mcp, 'risky_files', { paths: files, page: 99 })).answer).toEqual({
    ...{ data: [], next_page: null },
  })
  const fractional = await call(mcp, 'top_findings', { page: 1.5 })
  expect([fractional.isError, fractional.answer.details[0].field]).toEqual([true, 'page'])
})

test.each<[string, number, string]>([
  ['{', -32_700, 'must be valid JSON'],
  ['', -32_700, 'must not be empty'],
  ['{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', -32_700, 'id: must be given once'],
  ['[{"jsonrpc":"2.0","id":1,"method":"ping"}]', -32_600, 'one message'],
  ['{"a":1}', -32_600, 'JSON-RPC'],
  ['5', -32_600, 'JSON-RPC'],
])('what is no message is an error of JSON-RPC: %s', async (body, code, message) => {
  const response = await client(app, owner.key)('/mcp', {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body,
  })
  expect(response.status).toBe(400)
  expect(await response.json()).toEqual({
    ...{ jsonrpc: '2.0', id: null },
    error: { code, message: expect.stringMatching(message) },
  })
})

test('a pull request whose explanation does not fit is cut, and says so', async () => {
  const list = Array.from({ length: 100 }, (_, index) => ({
    ...{ name: `${index} ${'x'.repeat(1_000)}`, value: 1, points: 0.5 },
  }))
  const scores = { impact_score: 50, regression_score: 50, security_score: 50, coupling_score: 50 }
  await send([
    {
      ...{ type: 'pr_risk', repo: 'acme/long', pr_number: 1, pr_title: 'Long', files_changed: 1, ...scores },
      created_at: '2026-06-02T00:00:00Z',
      contributions: { impact: list, regression: list, security: list, coupling: list },
    },
  ])
  const { answer } = await call(await connect(owner.key), 'pr_risk', { repo: 'acme/long', pr_number: 1 })
  expect(answer).toMatchObject({ risk_score: 50, truncated: true, next_page: null })
  expect(answer.contributions.impact.length).toBeGreaterThan(1)
})

test('a developer who sees only their own figures learns of no other owner', async () => {
  const { sql } = database
  const own = await newOrg(sql, { scopes: ['write', 'admin'] })
  const ask = client(app, own.key)
  await send(
    [
      ...['ada', 'bob'].map(member),
      ...['ada', 'bob'].map((name) =>
        commit(name, name, '2026-01-01T00:00:00Z', [change('src/shared.ts', 9, 'added')]),
      ),
      ...['b2', 'b3'].map((sha) => commit(sha, 'bob', '2026-02-01T00:00:00Z', [change('src/shared.ts', 1)])),
    ],
    ask,
  )
  const keyFor = async (email: string) =>
    (await createKey(sql, own.orgId, { name: email, scopes: ['read'], member: email })).key
  const asked = async (key: string) => {
    const mcp = await connect(key)
    const paths = ['src/shared.ts']
    const { data } = (await call(mcp, 'risky_files', { paths })).answer
    const known = (await call(mcp, 'who_knows', { paths })).answer
    const idOf = ({ user_id }: { user_id: string }) => user_id
    return [data[0].owners.map(idOf), known.data.map(idOf)]
  }
  const both = ['user_ada', 'user_bob']
  expect((await asked(await keyFor('bob@example.com'))).map((ids) => ids.sort())).toEqual([both, both])
  const changed = await ask('/v1/organization', {
    ...{ method: 'PATCH', headers: { 'content-type': 'application/json' } },
    body: '{"member_visibility":"own"}',
  })
  expect(changed.status).toBe(200)
  expect(await asked(await keyFor('bob@example.com'))).toEqual([['user_bob'], ['user_bob']])
})

test('only POST is served, of no other site, and of a bounded size', async () => {
  for (const method of ['GET', 'DELETE', 'PUT']) {
    const response = await ask('/mcp', { method })
    expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'POST'])
  }
  const origins = { 'http://localhost': 200, 'https://localhost': 200, 'http://localhost:81': 403 }
  for (const [origin, status] of Object.entries({ ...origins, 'https://evil.example': 403, null: 403 }))
    expect([origin, (await post({ origin })).status]).toEqual([origin, status])
  expect((await post()).headers.get('access-control-allow-origin')).toBeNull()
  const behind = testApp(database.sql, {
    config: { publicUrl: 'https://stats.example.com/ca', rateLimits: PLENTY },
  })
  const init = { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const byProxy = { ...headers, origin: 'https://stats.example.com' }
  expect((await client(behind, owner.key)('/mcp', { ...init, headers: byProxy })).status).toBe(200)

  expect((await post({}, `"${'x'.repeat(1024 * 1024)}"`)).status).toBe(413)
  expect((await post({ 'content-type': 'text/plain' })).status).toBe(415)
  for (const body of ['{', '"\\u0000"']) expect((await post({}, body)).status).toBe(400)
  expect((await post({}, [{ jsonrpc: '2.0', id: 1, method: 'ping' }])).status).toBe(400)
  const without = await client(app)('/mcp', { ...init, headers })
  expect([without.status, without.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  expect(await without.json()).toMatchObject({ code: 'UNAUTHORIZED' })
})

test('a message counts as one request, also where a tool asks several routes', async () => {
  const limited = testApp(database.sql, {
    config: { rateLimits: { ...PLENTY, cloud_enterprise: 3 } },
    windowClock: () => NOW,
  })
  const { key } = await newOrg(database.sql)
  const call = () =>
    client(limited, key)('/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({
        ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
        params: { name: 'who_knows', arguments: { paths: ['src/cart.ts'] } },
      }),
    })
  for (const remaining of [2, 1, 0]) {
    const response = await call()
    expect([response.status, limitOf(response).remaining]).toEqual([200, remaining])
    expect(await response.text()).not.toContain('isError')
  }
  const refused = await call()
  expect([refused.status, refused.headers.has('retry-after')]).toEqual([429, true])
  expect(await refused.json()).toMatchObject({ code: 'RATE_LIMITED' })
})

test('the definitions of all tools have less than 1,500 tokens', async () => {
  const { tools } = await (await connect(owner.key, { pin: '2026-07-28' })).listTools()
  const definitions = JSON.stringify(tools)
  // each run of letters or digits is a token of at most four, and each sign one: tokenizers make fewer
  const tokens = definitions.match(/[A-Za-z]{1,4}|\d{1,3}|[^A-Za-z\d\s]/g) ?? []
  expect(tokens.length).toBeLessThan(1_500)
  expect(Object.keys(tools[0]?.inputSchema.properties ?? {})).toEqual(expect.arrayContaining([...FACETS]))
})
