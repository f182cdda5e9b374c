import { AsyncLocalStorage } from 'node:async_hooks'
import { parseKey } from '../../src/accounts/keys/format.ts'
import { connect, type Sql } from '../../src/database/client.ts'
import { citusUrls } from './scaling/citus.ts'

// Row level security of the tests' databases (docs/security.md): every table with an organization's data has it, and the
// statements of a request use connections that are limited to the request's organization. A statement that reads a row of
// another one fails. A test's own statements (`database.sql`) run as the owner of the tables, who sees all rows.

/** Citus has policies on the coordinator only. */
export const hasRowSecurity = citusUrls.length === 0

/** Without row level security: keys are looked up before their organization is known, badges by slug. */
const SHARED_TABLES = ['organizations', 'api_keys']
/** Pools kept open for a database; the least recently used one is closed. */
const MAX_POOLS = 8
/** Connections of a pool: the tests' server has 128 for the pools of all processes. */
const MAX_CONNECTIONS = 4
/** The organization of a request that has none. */
const NOBODY = ''

const caller = new AsyncLocalStorage<string>()
const owners = new Map<string, Sql>()
const orgOfKey = new Map<string, string>()

/**
 * Runs `work` like a request of the organization: its statements on a scoped pool see only that
 * organization's rows.
 */
export function asOrganization<Result>(orgId: string, work: () => Result): Result {
  return caller.run(orgId, work)
}

/** Runs `work` outside of any request, like what is looked up for the requests of several organizations at once. */
export const asOwner = <Result>(work: () => Result): Result => caller.exit(work)

/**
 * Creates `role` and enables row level security. `sql`: a superuser's connection to the migrated template.
 */
export async function secureRows(sql: Sql, role: string): Promise<void> {
  await sql`create role ${sql(role)} nologin nosuperuser nobypassrls`
  await sql`grant select, insert, update, delete on all tables in schema public to ${sql(role)}`
  await sql`
    create function refuse_row(org text) returns boolean language plpgsql cost 1000000 as $$
    begin
      raise exception 'a row of % was read by %', org, current_setting('app.org_id');
    end $$`
  const tables = await sql<{ name: string }[]>`
    select c.relname as name
    from pg_class c
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'org_id'
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p')
      and c.relname <> all(${SHARED_TABLES})`
  for (const { name } of tables) {
    const table = sql(name)
    await sql`alter table ${table} enable row level security`
    await sql`alter table ${table} force row level security`
    await sql`
      create policy own_rows on ${table}
      using (case when org_id = current_setting('app.org_id') then true else refuse_row(org_id) end)
      with check (org_id = current_setting('app.org_id'))`
  }
}

/**
 * `owner` outside of requests; within one, a pool of at most `max` connections that are of `role` and have the request's
 * organization as `app.org_id`. `end` closes all of them.
 */
export function scopedPool(owner: Sql, url: string, role: string, max: number): Sql {
  const pools = new Map<string, Sql>()
  // a further pool of a test may end before the database does
  if (!owners.has(owner.options.database)) owners.set(owner.options.database, owner)

  const current = (): Sql => {
    const orgId = caller.getStore()
    if (orgId === undefined) return owner
    const pool = pools.get(orgId) ?? openPool(url, role, orgId, Math.min(max, MAX_CONNECTIONS))
    // deletes first, so that the order of the map is the order of use
    pools.delete(orgId)
    pools.set(orgId, pool)
    const [oldest] = pools
    if (pools.size > MAX_POOLS && oldest !== undefined) {
      pools.delete(oldest[0])
      void oldest[1].end()
    }
    return pool
  }
  const end: Sql['end'] = async (options) => {
    if (owners.get(owner.options.database) === owner) owners.delete(owner.options.database)
    await Promise.all([owner, ...pools.values()].map((pool) => pool.end(options)))
  }
  return new Proxy(owner, {
    apply: (_target, self, args) => Reflect.apply(current(), self, args),
    get: (_target, name) => (name === 'end' ? end : Reflect.get(current(), name)),
  })
}

/** The driver passes unknown parameters of a URL on as settings of the connection. */
function openPool(text: string, role: string, orgId: string, max: number): Sql {
  const url = new URL(text)
  url.searchParams.set('role', role)
  url.searchParams.set('app.org_id', orgId)
  return connect({ url: url.href }, { max, applicationName: 'test-rls' })
}

/**
 * The organization of a request to an app on `sql`: that of its key or its badge. undefined where people sign in or have signed
 * in and where GitHub sends: whose request it is, is found among the rows of all.
 */
export async function callerOf(sql: Sql, request: Request): Promise<string | undefined> {
  const owner = owners.get(sql.options.database)
  if (owner === undefined) return NOBODY
  const { pathname } = new URL(request.url)
  if (/^\/(?:auth|github)\//.test(pathname)) return undefined
  const slug = /^\/api\/badge\/([^/]+)\//.exec(pathname)?.[1]
  if (slug !== undefined) {
    const [row] = await owner<{ org_id: string }[]>`
      select o.org_id from organizations o where o.slug = ${slug}`
    return row?.org_id ?? NOBODY
  }
  if (request.headers.has('cookie') && !request.headers.has('authorization')) return undefined
  const [, text = ''] = /^bearer (.+)$/i.exec(request.headers.get('authorization') ?? '') ?? []
  const id = parseKey(text)?.id
  if (id === undefined) return NOBODY
  const known = orgOfKey.get(id)
  if (known !== undefined) return known
  const [row] = await owner<{ org_id: string }[]>`select k.org_id from api_keys k where k.id = ${id}`
  if (row !== undefined) orgOfKey.set(id, row.org_id)
  return row?.org_id ?? NOBODY
}
