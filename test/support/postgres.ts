import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLog } from '../../src/base/log.ts'
import { type ConnectTarget, connect, type ISql, type Sql } from '../../src/database/client.ts'
import { type CheckedTable, differences } from '../../src/database/derived-tables.ts'
import { distribute } from '../../src/database/distribute.ts'
import { startEmbedded } from '../../src/database/embedded/embedded-server.ts'
import { migrate } from '../../src/database/migrate.ts'
import { atEnd } from './at-end.ts'
import { eventually } from './cli.ts'
import { hasRowSecurity, scopedPool, secureRows } from './rls.ts'
import { citusUrls, closeTemplate, joinNodes, rollBackPrepared } from './scaling/citus.ts'

/** A migrated, empty database that no other test uses. */
export interface TestDatabase extends AsyncDisposable {
  sql: Sql
  target: ConnectTarget
  /** The target as a URL, for a program started with DATABASE_URL. */
  url: string
  /** The URLs of the databases of this name on all nodes, `url` first. */
  nodes: string[]
  /** Opens another pool of at most `max` connections, which the test ends. */
  pool(max: number): Sql
  drop(): Promise<void>
}

/** A PostgreSQL with a migrated template of the tests' databases. */
export interface TestServer {
  /** URL of the database `postgres`, from which others are created. */
  url: string
  /** The same of the workers, where `url` is the coordinator of a Citus: each has all databases too. */
  workers: string[]
  template: string
  /** The same without row level security. */
  plain: string
  /** The role that requests run as under row level security. */
  role: string
  /** Files are copied in a third of the processor time, where a checkpoint costs little. */
  strategy: 'wal_log' | 'file_copy'
}

export const silent = createLog('silent', 'json')

/**
 * The environment variable by which `test/run.ts` passes its server to the test processes: a TestServer as
 * JSON.
 */
export const SHARED_SERVER = 'TEST_SERVER'

/** The server as this process uses it. */
interface UsedServer extends TestServer {
  /** Connections of an administrator to the server, and to each worker. */
  admins: Sql[]
  /** Stops what this process started. */
  stop(): Promise<void>
}

let used: Promise<UsedServer> | undefined
let count = 0
const prefix = `test_${process.pid}_${Date.now().toString(36)}`

/**
 * Creates a database from a migrated template (about 30 ms), on the server of `test/run.ts`, or on one that
 * this process starts at the first call.
 */
export const testDatabase = (): Promise<TestDatabase> => createDatabase(({ template }) => template)

/** The database of all tests of the file that calls this, dropped after the last of them. */
export async function testsDatabase(create = testDatabase): Promise<TestDatabase> {
  const database = await create()
  atEnd(database.drop)
  return database
}

/** The same as migrations leave it, without row level security: its conditions change plans and take time. */
export const plainDatabase = (): Promise<TestDatabase> => createDatabase(({ plain }) => plain)

/** Creates a database without tables. */
export const emptyDatabase = (): Promise<TestDatabase> => createDatabase(() => 'template0')

async function createDatabase(templateOf: (server: TestServer) => string): Promise<TestDatabase> {
  used ??= useServer()
  const server = await used
  const { admins, url: serverUrl, role, strategy } = server
  const name = `${prefix}_${++count}`
  const template = templateOf(server)
  const isSecured = hasRowSecurity && template === server.template
  await Promise.all(
    admins.map(
      (admin) =>
        admin`create database ${admin(name)} template ${admin(template)} strategy ${admin(strategy)}`,
    ),
  )
  const url = urlOf(serverUrl, name)
  const pool = (max: number) => {
    const owner = connect({ url }, { max, applicationName: 'test' })
    return isSecured ? scopedPool(owner, url, role, max) : owner
  }
  const sql = pool(4)
  const nodes = [serverUrl, ...server.workers].map((node) => urlOf(node, name))
  const drop = async () => {
    await sql.end({ timeout: 1 })
    // the coordinator's first: it ends the transactions on the workers
    for (const [index, admin] of admins.entries()) {
      if (index > 0) await rollBackPrepared(admin, nodes[index] ?? '')
      await admin`drop database ${admin(name)} with (force)`
    }
  }
  return { sql, url, nodes, pool, target: { url }, drop, [Symbol.asyncDispose]: drop }
}

async function useServer(): Promise<UsedServer> {
  const shared = process.env[SHARED_SERVER]
  const { server, stop } = shared
    ? { server: JSON.parse(shared) as TestServer, async stop() {} }
    : await startTestServer()
  const admins = [server.url, ...server.workers].map((url) =>
    connect({ url }, { max: 2, applicationName: 'test-admin' }),
  )
  return {
    ...server,
    admins,
    async stop() {
      await Promise.all(admins.map((admin) => admin.end({ timeout: 1 })))
      await stop()
    },
  }
}

/**
 * Stops the server of this process; called after its last test (see preload.ts). With `bun test --parallel`
 * that is after the last test of each file: the server of `test/run.ts` and the connections to it stay.
 */
export async function stopTestServer(): Promise<void> {
  if (used === undefined || process.env[SHARED_SERVER]) return
  const { stop } = await used
  used = undefined
  await stop()
}

/**
 * Starts a server, or uses that of TEST_DATABASE_URL, or the Citus of TEST_CITUS_URLS (citus.ts); `stop` removes what was
 * created.
 */
export async function startTestServer(): Promise<{ server: TestServer; stop(): Promise<void> }> {
  const [coordinator, ...workers] = citusUrls
  const external = coordinator ?? process.env.TEST_DATABASE_URL
  const own = external ? { url: external, async stop() {} } : await ownServer()
  const url = urlOf(own.url, 'postgres')
  const plain = `${prefix}_plain`
  const role = `${prefix}_app`
  const admins = [url, ...workers].map((each) =>
    connect({ url: each }, { max: 1, applicationName: 'test-admin' }),
  )
  await Promise.all(admins.map((admin) => admin`create database ${admin(plain)}`))
  if (workers.length > 0) await joinNodes([url, ...workers].map((each) => urlOf(each, plain)))
  const sql = connect({ url: urlOf(url, plain) }, { max: 1, applicationName: 'test-migrate' })
  await migrate(sql, silent)
  if (workers.length > 0) await distribute(sql)
  await sql.end()
  if (workers.length > 0) await Promise.all(admins.map((admin) => closeTemplate(admin, plain)))
  const template = hasRowSecurity ? await securedCopy(url, plain, role) : plain
  return {
    server: { url, workers, template, plain, role, strategy: external ? 'wal_log' : 'file_copy' },
    async stop() {
      for (const name of new Set([template, plain]))
        await Promise.all(admins.map((admin) => admin`drop database ${admin(name)} with (force)`))
      if (external) for (const admin of admins) await admin`drop role if exists ${admin(role)}`
      await Promise.all(admins.map((admin) => admin.end({ timeout: 1 })))
      await own.stop()
    },
  }
}

/** Creates a copy of the template `plain` with row level security; returns its name. */
async function securedCopy(url: string, plain: string, role: string): Promise<string> {
  const name = `${prefix}_template`
  const admin = connect({ url }, { max: 1, applicationName: 'test-admin' })
  await admin`create database ${admin(name)} template ${admin(plain)}`
  await admin.end()
  const sql = connect({ url: urlOf(url, name) }, { max: 1, applicationName: 'test-secure' })
  await secureRows(sql, role)
  await sql.end()
  return name
}

export function urlOf(server: string, database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}

async function ownServer(): Promise<{ url: string; stop(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'cloud-analytics-test-'))
  const embedded = await startEmbedded({ dataDir, log: silent, durable: false })
  const { target } = embedded
  if ('url' in target) throw new Error('an embedded server listens on a socket')
  return {
    url: `postgres://${target.user}@localhost/postgres?host=${encodeURIComponent(target.socketDir)}`,
    async stop() {
      await embedded.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Rows that differ are read up to this number in each table. */
const MAX_DIFFERENCES = 100

/** Describes the rows that differ from what their queries compute, ordered by table and columns; [] when all agree. */
export async function findDifferences(
  sql: Sql,
  orgId: string,
  tables: readonly CheckedTable[],
): Promise<string[]> {
  const found = new Set<string>()
  for (const table of tables.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const rows =
      'rebuild' in table
        ? [await table.findDiffering(sql, orgId)].filter((row) => row !== undefined)
        : await sql<Record<string, string>[]>`${differences(sql, orgId, table, MAX_DIFFERENCES)}`
    for (const row of rows) found.add(table.describe(row))
  }
  return [...found]
}

/** Holds what a statement locks; resolves to what lets it go. */
export async function hold(sql: Sql, lock: (tx: ISql) => PromiseLike<unknown>): Promise<() => Promise<void>> {
  const end = Promise.withResolvers<void>()
  const locked = Promise.withResolvers<void>()
  const holder = sql.begin(async (tx) => {
    await lock(tx)
    locked.resolve()
    await end.promise
  })
  await Promise.race([locked.promise, holder])
  return async () => {
    end.resolve()
    await holder
  }
}

/** Locks the organization as a writer does. */
export const holdOrganization = (sql: Sql, orgId: string) =>
  hold(sql, (tx) => tx`select 1 from org_locks l where l.org_id = ${orgId} for update`)

/** Until a writer waits for an organization that is held. On Citus it waits on another node, of which only its query tells. */
export async function untilWriterWaits(sql: Sql): Promise<void> {
  await eventually(
    () => sql`
      select
      from pg_stat_activity a
      where a.datname = current_database()
        and a.state = 'active'
        and a.query like '%update org_locks%'
        and a.pid <> pg_backend_pid()`,
    (waiting) => waiting.length > 0,
  )
}
