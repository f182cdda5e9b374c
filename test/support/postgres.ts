import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ConnectTarget, connect, type Sql } from '../../src/db/client.ts'
import { startEmbedded } from '../../src/db/embedded/embedded-server.ts'
import { migrate } from '../../src/db/migrate.ts'
import { createLog } from '../../src/log.ts'
import { rlsMode, scopedPool, secureRows } from './rls.ts'

/** A migrated, empty database of one's own. */
export interface TestDatabase {
  sql: Sql
  target: ConnectTarget
  /** The same place as a URL, for a program started with DATABASE_URL. */
  url: string
  /** Another pool to it, of at most `max` connections; the test ends it. */
  pool(max: number): Sql
  drop(): Promise<void>
}

interface Server {
  /** To the server's own database, to make others. */
  admin: Sql
  urlOf(database: string): string
  template: string
  /** Whom requests come from where rows are secured. */
  role: string
}

export const silent = createLog('silent', 'json')

let server: Promise<Server> | undefined
let stopOwnServer = async () => {}
let count = 0
const prefix = `test_${process.pid}_${Date.now().toString(36)}`

/**
 * Makes a database, a copy of one that was migrated once (about 30 ms). The server behind it is one per test process,
 * started when first needed, or that of TEST_DATABASE_URL.
 */
export async function testDatabase(): Promise<TestDatabase> {
  server ??= startServer()
  const { admin, urlOf, template, role } = await server
  const name = `${prefix}_${++count}`
  await admin`create database ${admin(name)} template ${admin(template)}`
  const url = urlOf(name)
  const pool = (max: number) => {
    const owner = connect({ url }, { max, applicationName: 'test' })
    return rlsMode === undefined ? owner : scopedPool(owner, url, role, max)
  }
  const sql = pool(4)
  return {
    sql,
    url,
    pool,
    target: { url },
    async drop() {
      await sql.end({ timeout: 1 })
      await admin`drop database ${admin(name)} with (force)`
    },
  }
}

/** Ends the server; called once, after the last test of the process (see preload.ts). */
export async function stopTestServer(): Promise<void> {
  if (server === undefined) return
  const { admin, template, role } = await server
  await admin`drop database ${admin(template)} with (force)`
  await admin`drop role if exists ${admin(role)}`
  await admin.end({ timeout: 1 })
  await stopOwnServer()
}

async function startServer(): Promise<Server> {
  const urlOf = process.env.TEST_DATABASE_URL
    ? externalServer(process.env.TEST_DATABASE_URL)
    : await ownServer()
  const admin = connect({ url: urlOf('postgres') }, { max: 2, applicationName: 'test-admin' })
  const template = `${prefix}_template`
  const role = `${prefix}_app`
  await admin`create database ${admin(template)}`
  const sql = connect({ url: urlOf(template) }, { max: 1, applicationName: 'test-migrate' })
  await migrate(sql, silent)
  if (rlsMode !== undefined) await secureRows(sql, role, rlsMode)
  await sql.end()
  return { admin, urlOf, template, role }
}

function externalServer(text: string): Server['urlOf'] {
  return (database) => {
    const url = new URL(text)
    url.pathname = `/${database}`
    return url.href
  }
}

async function ownServer(): Promise<Server['urlOf']> {
  const dataDir = mkdtempSync(join(tmpdir(), 'cloud-analytics-test-'))
  const embedded = await startEmbedded({ dataDir, log: silent, durable: false })
  stopOwnServer = async () => {
    await embedded.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  const { target } = embedded
  if ('url' in target) throw new Error('an embedded server listens on a socket')
  return (database) =>
    `postgres://${target.user}@localhost/${database}?host=${encodeURIComponent(target.socketDir)}`
}
