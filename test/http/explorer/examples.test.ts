import { expect, setDefaultTimeout, test } from 'bun:test'
import { testsFolder } from '../../support/at-end.ts'
import { eventually, testsServer } from '../../support/cli.ts'

// Sends every example of the API document to the demo as it stands, as somebody does who clicks Execute in the explorer, and compares
// the data before and after.

interface Operation {
  operationId: string
  parameters: {
    $ref?: string
    name: string
    in: string
    required?: boolean
    example?: unknown
    schema?: { examples?: unknown[]; default?: unknown; enum?: unknown[] }
  }[]
  responses: Record<string, { content?: object }>
  requestBody?: { content: Record<string, { example?: unknown }> }
}
interface Sent {
  id: string
  method: string
  path: string
  headers?: Record<string, string>
  body?: string
}
type Row = Record<string, unknown> & { id?: string }

/**
 * The answers of operations that need what exists once and is secret: a password, an invitation, a code, a signature, an identity
 * provider; the last needs a key of a member who takes part.
 */
const OF_SECRETS = new Map(
  Object.entries({
    ...{ signIn: 401, acceptInvitation: 401, setUp: 404, getDevice: 401, pollDevice: 400, decideDevice: 401 },
    ...{ beginOidc: 404, finishOidc: 404, takeGithubEvent: 401, getArm: 403 },
  }),
)
setDefaultTimeout(300_000)

const folder = testsFolder()
const demo = await testsServer('demo', {
  DATA_DIR: folder.path,
  RATE_LIMITS: '100000,100000,100000',
})
const document = JSON.parse(await (await fetch(`${demo.url}/docs/json`)).text())
const operations = Object.entries<Record<string, Operation>>(document.paths).flatMap(([path, item]) =>
  Object.entries(item)
    .filter(([method]) => method !== 'servers')
    .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
)

async function send({ method, path, headers, body }: Omit<Sent, 'id'>): Promise<Response> {
  const authorization = `Bearer ${demo.first.key}`
  const init = { method, headers: { authorization, ...headers }, redirect: 'manual' as const }
  return await fetch(`${demo.url}${path}`, body === undefined ? init : { ...init, body })
}

/** The requests of an operation: with what the explorer fills in, then with all other examples of parameters at once, then with each. */
function requestsOf(method: string, path: string, operation: Operation): Sent[] {
  const named = operation.parameters.filter(({ $ref }) => $ref === undefined)
  const inPath = named.filter((one) => one.in === 'path')
  if (inPath.some(({ example }) => example === undefined)) return []
  const placed = inPath.reduce((text, { name, example }) => text.replace(`{${name}}`, String(example)), path)
  const prefilled = named.filter((one) => one.in === 'query' && one.example !== undefined)
  const others = named.flatMap(({ name, in: place, schema = {} }) =>
    place === 'path' ? [] : (schema.examples ?? []).map((value) => ({ name, place, value: String(value) })),
  )
  // `previous` needs both
  const dates = others.filter(({ name }) => /^date_(from|to)$/.test(name))
  const urlWith = (more: { name: string; value: string }[] = []) => {
    const query = new URLSearchParams(
      prefilled.map((one): [string, string] => [one.name, String(one.example)]),
    )
    for (const { name, value } of more) query.set(name, value)
    return query.size === 0 ? placed : `${placed}?${query}`
  }
  const id = operation.operationId
  // clients of MCP must take both types
  const accept = Object.keys(operation.responses[200]?.content ?? {}).join(', ') || '*/*'
  const bodies = Object.entries(operation.requestBody?.content ?? {})
    .filter(([type]) => type !== 'application/x-protobuf')
    .map(([type, { example }]) => ({
      headers: { accept, 'content-type': type } as Record<string, string>,
      body: typeof example === 'string' ? example : JSON.stringify(example),
    }))
  return [
    ...(bodies.length === 0 ? [{ id, method, path: urlWith() }] : []),
    ...bodies.map((sent) => ({ id, method, path: urlWith(), ...sent })),
    // a budget has one scope
    ...(method === 'GET' && id !== 'listBudgets'
      ? [{ id, method, path: urlWith(others.filter(({ place }) => place === 'query')) }]
      : []),
    ...others.map(({ name, place, value }) => {
      const sent = { id, method, ...bodies[0] }
      return place === 'header'
        ? { ...sent, path: urlWith(), headers: { ...sent.headers, [name]: value } }
        : { ...sent, path: urlWith([...(value === 'previous' ? dates : []), { name, value }]) }
    }),
  ]
}

async function listed(path: string): Promise<Row[]> {
  const rows: Row[] = []
  for (let page = 1; ; page += 1) {
    const url = `${path}${path.includes('?') ? '&' : '?'}per_page=100&page=${page}`
    const { data, pagination } = JSON.parse(await (await send({ method: 'GET', path: url })).text())
    rows.push(...data)
    if (data.length === 0 || pagination === undefined || rows.length >= pagination.total) return rows
  }
}

const LISTS = {
  sessions: '/v1/sessions',
  findings: '/v1/findings?status=open',
  members: '/v1/members',
  keys: '/v1/keys',
  budgets: '/v1/budgets',
  webhooks: '/v1/webhooks',
  alerts: '/v1/alerts',
  digests: '/v1/digests',
  pull_requests: '/v1/risk',
  projects: '/v1/projects',
}
/** Moves with time and use, or is a label, which an example may set. */
const MOVING = new Set(
  'last_used_at last_value since state health updated_at last_sent_at sessions description'.split(' '),
)

/** A member whom an example invites is the same member. */
const isStill = ([name, value]: [string, unknown]) =>
  !MOVING.has(name) && value !== 'active' && value !== 'invited'
const still = (row: Row) => Object.fromEntries(Object.entries(row).filter(isStill))

const stored = async () =>
  Object.fromEntries(
    await Promise.all(
      Object.entries(LISTS).map(async ([name, path]) => [name, (await listed(path)).map(still)]),
    ),
  ) as Record<keyof typeof LISTS, Row[]>

test('every example succeeds against the demo as it stands, and takes nothing away', async () => {
  const settings = async () =>
    JSON.parse(await (await send({ method: 'GET', path: '/v1/organization' })).text())
  // the last of the members joins, whose sessions name the member from then on
  await eventually(
    () => listed('/v1/members'),
    ({ length }) => length === 12,
    300_000,
  )
  const [before, settingsBefore] = [await stored(), await settings()]
  const requests = operations.flatMap(({ method, path, operation }) => requestsOf(method, path, operation))
  const sent = requests.filter(({ id }) => !OF_SECRETS.has(id))
  expect(sent.length).toBeGreaterThan(150)
  for (const one of requests) {
    const status = OF_SECRETS.get(one.id)
    if (status !== undefined) expect([one.id, (await send(one)).status]).toEqual([one.id, status])
  }
  const failed: unknown[] = []
  // changes are sent once more: a second click
  for (const one of [...sent, ...sent.filter(({ method, id }) => method !== 'GET' && id !== 'addMember')]) {
    const answer = await send(one)
    const isStream = answer.headers.get('content-type') === 'text/event-stream'
    const text = isStream ? '' : await answer.text()
    if (isStream) await answer.body?.cancel()
    if (!answer.ok) failed.push([one.id, one.path, answer.status, text])
  }
  expect(failed).toEqual([])
  expect(await settings()).toEqual({ ...settingsBefore, badges: { ...settingsBefore.badges, token: true } })
  const after = await stored()
  const lost = Object.entries(before).flatMap(([name, rows]) => {
    const left = new Set(after[name as keyof typeof LISTS].map((row) => JSON.stringify(row)))
    return rows.filter((row) => !left.has(JSON.stringify(row))).map((row) => [name, row])
  })
  expect(lost).toEqual([])
})

test('what deletes, revokes or replaces a secret fills in no id', () => {
  const harmful = operations.filter(
    ({ method, path }) => path.includes('{') && (method === 'DELETE' || /\/rotate/.test(path)),
  )
  expect(harmful.length).toBeGreaterThan(7)
  for (const { path, operation } of harmful)
    for (const parameter of operation.parameters.filter((one) => one.in === 'path'))
      expect([path, parameter.example]).toEqual([path, undefined])
})

test('all other ids of paths have an example', () => {
  const missing = operations.flatMap(({ method, path, operation }) =>
    method === 'DELETE' || /\/rotate/.test(path)
      ? []
      : operation.parameters.flatMap((one) => (one.in === 'path' && one.example === undefined ? [path] : [])),
  )
  expect(missing).toEqual([])
})

test('an example of a change holds a name or a label only', () => {
  const changes = operations.filter(({ method, operation }) => method === 'PATCH' && operation.requestBody)
  expect(changes.length).toBeGreaterThan(5)
  const fields = changes.flatMap(({ operation }) =>
    Object.keys(operation.requestBody?.content['application/json']?.example ?? {}),
  )
  // a finding stays open
  expect([...new Set(fields)].sort()).toEqual(['description', 'display_name', 'name', 'plan', 'status'])
})
