import { type App, type AppDeps, createApp } from '../../src/app.ts'
import { type Config, loadConfig, type Plan } from '../../src/config.ts'
import type { Sql } from '../../src/db/client.ts'
import type { Pagination } from '../../src/http/query.ts'
import { createKey } from '../../src/keys/queries.ts'
import { createOrganization } from '../../src/organizations/queries.ts'
import { createSecretBox } from '../../src/webhooks/signing/secret-box.ts'
import { silent } from './postgres.ts'
import { asOrganization, callerOf, rlsMode } from './rls.ts'

/** The box of every test's app. */
export const testSecrets = createSecretBox(new Uint8Array(32).fill(7))

/** An app on `sql` with the default settings and nothing logged; `over` replaces any of it. */
export function testApp(
  sql: Sql,
  over: Partial<Omit<AppDeps, 'config'>> & { config?: Partial<Config> } = {},
): App {
  const { config, ...deps } = over
  const app = createApp({
    sql,
    writes: sql,
    config: { ...loadConfig({}), ...config },
    log: silent,
    now: () => new Date(),
    worker: () => 'ok',
    pricer: async () => ({ cost: () => undefined }),
    secrets: testSecrets,
    ...deps,
  })
  return rlsMode === undefined ? app : withCallers(app, sql)
}

/** `app`, each request of which runs as one of the organization it comes from. */
function withCallers(app: App, sql: Sql): App {
  const answer = app.fetch
  const scoped = async (request: Request) => {
    const orgId = await callerOf(sql, request)
    return await asOrganization(orgId, () => answer(request))
  }
  return Object.defineProperties(app, {
    fetch: { value: scoped },
    handle: { value: scoped },
  })
}

export interface Tenant {
  orgId: string
  slug: string
  key: string
  keyId: string
}

let made = 0

/** An organization with a key. */
export async function tenant(
  sql: Sql,
  { plan = 'cloud_enterprise', scopes = ['read', 'write'] }: { plan?: Plan; scopes?: string[] } = {},
): Promise<Tenant> {
  made += 1
  const slug = `org-${made}`
  const { id: orgId } = await createOrganization(sql, { slug, name: slug, plan })
  const { id: keyId, key } = await createKey(sql, orgId, { name: 'test', scopes })
  return { orgId, slug, key, keyId }
}

/** A function that asks `app` with `key`; `init.headers` go before it. */
export function client(app: App, key?: string) {
  return async (path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = new Headers(init.headers)
    if (key !== undefined && !headers.has('authorization')) headers.set('authorization', `Bearer ${key}`)
    return await app.handle(new Request(`http://localhost${path}`, { ...init, headers }))
  }
}

/** The answer's limit headers as numbers. */
export function limitOf(response: Response) {
  const number = (name: string) => Number(response.headers.get(`x-ratelimit-${name}`) ?? Number.NaN)
  return { limit: number('limit'), remaining: number('remaining'), reset: number('reset') }
}

interface AnyBody {
  [field: string]: unknown
  details: { field: string; message: string }[]
  pagination: Pagination
}

/** The answer's body as whatever the test expects: an error or a page. */
export async function bodyOf(answer: Response): Promise<AnyBody> {
  return (await answer.json()) as AnyBody
}
