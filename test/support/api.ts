import { createKey } from '../../src/accounts/keys/queries.ts'
import { createOrganization } from '../../src/accounts/organizations/queries.ts'
import type { Pricer } from '../../src/analysis/scoring/prices.ts'
import { createRegistry } from '../../src/base/metrics/registry.ts'
import { type Config, loadConfig, type Plan } from '../../src/config.ts'
import type { Sql } from '../../src/database/client.ts'
import type { Pagination } from '../../src/http/query.ts'
import { type App, type AppDeps, createApp } from '../../src/server/app.ts'
import { createIntake } from '../../src/server/intake/intake.ts'
import { writeRecords } from '../../src/server/sync/write.ts'
import { createSecretBox } from '../../src/webhooks/signing/secret-box.ts'
import { silent } from './postgres.ts'
import { asOrganization, asOwner, callerOf, hasRowSecurity } from './rls.ts'

/** Encrypts and decrypts the webhook secrets of every test's app. */
export const testSecrets = createSecretBox(new Uint8Array(32).fill(7))

/** So many requests a minute that no test comes to the limit. */
export const PLENTY = { cloud_pro: 1e6, cloud_team: 1e6, cloud_enterprise: 1e6 }

/** No model has a price. */
export const noPrices = async (): Promise<Pricer> => ({ cost: () => undefined, divided: () => undefined })

type Over = Partial<Omit<AppDeps, 'config'>> & {
  config?: Partial<Config>
  pricer?: () => Promise<Pricer>
  /** Whether requests see the rows of all organizations. */
  seesAll?: boolean
}

/**
 * An app on `sql` with the default settings, without a log and with the intake in this thread; `over` replaces any of
 * these. Each request sees only the rows of its organization (rls.ts).
 */
export function testApp(sql: Sql, over: Over = {}): App {
  const { pricer = noPrices, seesAll = !hasRowSecurity, ...deps } = over
  // not the default folder, which another program of this machine may use or remove
  const config = { ...loadConfig({ DATA_DIR: '/nonexistent' }), ...over.config }
  const now = deps.now ?? (() => new Date())
  const app = createApp({
    sql,
    writes: sql,
    people: sql,
    lists: sql,
    lookUp: (statement) => asOwner(() => statement(sql)),
    log: silent,
    registry: createRegistry(),
    now,
    instance: '5b0c7f1e9a3d4c62',
    worker: () => 'ok',
    intake: createIntake(
      { sql: deps.writes ?? sql, now, storeContent: config.storeContent, pricer },
      { drainMs: 10 },
    ),
    secrets: testSecrets,
    checkResponses: true,
    ...deps,
    config,
  })
  return seesAll ? app : withCallers(app, sql)
}

/** Changes `app` so that each request sees only the rows of its own organization: see rls.ts. */
function withCallers(app: App, sql: Sql): App {
  const respond = app.fetch
  const scoped = async (request: Request) => {
    const orgId = await callerOf(sql, request)
    return await (orgId === undefined ? respond(request) : asOrganization(orgId, () => respond(request)))
  }
  return Object.defineProperties(app, {
    fetch: { value: scoped },
    handle: { value: scoped },
  })
}

export interface Org {
  orgId: string
  slug: string
  key: string
  keyId: string
}

let made = 0

/** An organization with a key. */
export async function newOrg(
  sql: Sql,
  {
    plan = 'cloud_enterprise',
    scopes = ['read', 'write', 'audit:write'],
  }: { plan?: Plan; scopes?: string[] } = {},
): Promise<Org> {
  made += 1
  const slug = `org-${made}`
  const { id: orgId } = await createOrganization(sql, { slug, name: slug, plan })
  const { id: keyId, key } = await createKey(sql, orgId, { name: 'test', scopes })
  return { orgId, slug, key, keyId }
}

/** A further key of an organization, or of a member of it. */
export const newKey = async (sql: Sql, orgId: string, scopes: readonly string[], member?: string) =>
  (await createKey(sql, orgId, { name: 'test', scopes: [...scopes], member })).key

type Writing = { now?: () => Date; actor?: Parameters<typeof writeRecords>[3] }

/** Writes records of an organization without a request. */
export const writeTo = (
  sql: Sql,
  orgId: string,
  records: readonly unknown[],
  { now = () => new Date(), actor }: Writing = {},
) =>
  asOrganization(orgId, () =>
    writeRecords({ sql, now, storeContent: false, pricer: noPrices }, orgId, records, actor),
  )

/** A function that sends requests to `app` with `key`, unless `init.headers` name another. */
export function client(app: App, key?: string) {
  return async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers)
    if (key !== undefined && !headers.has('authorization')) headers.set('authorization', `Bearer ${key}`)
    return await app.handle(new Request(`http://localhost${path}`, { ...init, headers }))
  }
}

interface AnyAnswer {
  [field: string]: unknown
  id: string
  secret: string
  error: string
  code: string
  details: { field: string; message: string }[]
  data: { [field: string]: unknown; id: string; name: string }[]
  pagination: { page: number; per_page: number; total: number }
}

export interface Answer {
  status: number
  text: string
  body: AnyAnswer
  headers: Headers
}

/** A function that sends requests to `app` with `key`; a body is sent as JSON. `body`: that of an answer of JSON, else `{}`. */
export function asker(app: App, key: string) {
  const ask = client(app, key)
  return async (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const sent = typeof body === 'string' ? body : JSON.stringify(body)
    const init =
      body === undefined
        ? { headers }
        : { body: sent, headers: { 'content-type': 'application/json', ...headers } }
    const response = await ask(path, { method, ...init })
    const text = await response.text()
    const { status, headers: answered } = response
    const isJson = answered.get('content-type')?.startsWith('application/json') === true
    return { status, text, body: JSON.parse(isJson ? text : '{}'), headers: answered }
  }
}
export type Ask = ReturnType<typeof asker>

/** A request with a body of JSON. */
export const jsonInit = (
  method: string,
  body: unknown,
  headers: Record<string, string> = {},
): RequestInit => ({
  method,
  headers: { 'content-type': 'application/json', ...headers },
  body: JSON.stringify(body),
})

export const jsonPost = (body: unknown): RequestInit => jsonInit('POST', body)

/** The response's `X-RateLimit-*` headers as numbers. */
export function limitOf(response: Response) {
  const number = (name: string) => Number(response.headers.get(`x-ratelimit-${name}`) ?? Number.NaN)
  return { limit: number('limit'), remaining: number('remaining'), reset: number('reset') }
}

interface AnyBody {
  [field: string]: unknown
  details: { field: string; message: string }[]
  pagination: Pagination
}

/** The body of an answer that must be 200. */
// biome-ignore lint/suspicious/noExplicitAny: bodies have many shapes, and tests compare them with what is expected
export async function got<Body = any>(asked: Promise<Response>): Promise<Body> {
  const response = await asked
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${response.status}: ${text}`)
  return JSON.parse(text)
}

/** The response's body, typed as an error or a page. */
export async function bodyOf(response: Response): Promise<AnyBody> {
  return (await response.json()) as AnyBody
}

/**
 * A function like `client` that sends a GET three times, so that the last response is from memory, and expects the three
 * to be equal but for what differs from request to request.
 */
export function repeatingClient(app: App, key?: string): ReturnType<typeof client> {
  const ask = client(app, key)
  const shownOf = async (response: Response) => {
    const headers = [...response.headers].filter(([name]) => !/^x-r(equest-id|atelimit-)/.test(name))
    const text = (await response.clone().text()).replace(/"request_id":"[^"]*"/, '')
    return JSON.stringify([response.status, headers.sort(), text])
  }
  return async (path, init = {}) => {
    const first = await ask(path, init)
    if ((init.method ?? 'GET') !== 'GET') return first
    const shown = await shownOf(first)
    let last = first
    for (const time of ['second', 'third']) {
      last = await ask(path, init)
      if ((await shownOf(last)) !== shown) throw new Error(`${path} has another response the ${time} time`)
    }
    return last
  }
}
