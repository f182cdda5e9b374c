import { join } from 'node:path'
import { createLog } from '../../src/base/log.ts'
import { connect, type Sql } from '../../src/database/client.ts'
import type { Embedded } from '../../src/database/embedded/embedded-server.ts'
import { migrate } from '../../src/database/migrate.ts'
import { databaseOf } from '../delivery/contenders.ts'
import { type Program, startProgram } from '../support/program.ts'
import type { Ports, Receipts } from './receiver.ts'
import { KEY } from './rows.ts'

// The set-up of each measurement of a backlog: a fresh database, the receivers, the program.

export interface Receivers {
  ports: Ports
  receipts(): Promise<Receipts>
  /** Deletes what was recorded so far. */
  clear(): Promise<void>
  stop(): void
}

/** Starts the receivers' process and waits until it listens. */
export async function startReceivers(): Promise<Receivers> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'receiver.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { value } = await child.stdout.getReader().read()
  const ports = JSON.parse(new TextDecoder().decode(value)) satisfies Ports
  const url = `http://127.0.0.1:${ports.good}/`
  return {
    ports,
    receipts: async () => (await fetch(url)).json() as Promise<Receipts>,
    clear: async () => void (await fetch(url, { method: 'DELETE' })),
    stop: () => child.kill(),
  }
}

/** A migrated database, and a function that starts the program on it. */
interface Stage {
  sql: Sql
  /** One connection, whose temporary tables and prepared statements stay. */
  one: Sql
  /** Starts it with default settings, except that webhooks to this machine are allowed. */
  start(): Promise<Program>
}

export interface StageOptions {
  embedded: Embedded
  executable: string
  /** Folder of the program's own files. */
  folder: string
}

/** Creates a database, runs `use` with it, and drops it. */
export async function withStage<Result>(
  { embedded: { target }, executable, folder }: StageOptions,
  use: (stage: Stage) => Promise<Result>,
): Promise<Result> {
  if (!('socketDir' in target)) throw new Error('the embedded PostgreSQL listens on a unix socket')
  const server = databaseOf(target, 'postgres')
  await server.sql`drop database if exists bench with (force)`
  await server.sql`create database bench`
  const { url, sql } = databaseOf(target, 'bench')
  const one = connect({ url }, { max: 1, applicationName: 'bench', statementTimeoutMs: 0 })
  try {
    await migrate(sql, createLog('warn', 'pretty'))
    const settings = {
      DATABASE_URL: url,
      SECRET_KEY: Buffer.from(KEY).toString('base64'),
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
    }
    return await use({ sql, one, start: () => startProgram(join(folder, 'program'), settings, executable) })
  } finally {
    await Promise.all([sql.end(), one.end()])
    await server.sql`drop database bench with (force)`
    await server.sql.end()
  }
}
