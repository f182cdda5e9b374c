import { existsSync } from 'node:fs'
import { type ConnectTarget, connect, type Sql } from '../src/db/client.ts'
import { buildRival, type Deliverer, delivererOf, startRival } from './delivery-processes.ts'
import type { Job } from './delivery-rival.ts'

/** Somebody who delivers what waits in a database of their own. */
export interface Contender {
  name: string
  /** Makes the tables, and lets `jobs` wait. */
  fill(database: Database, jobs: readonly Job[]): Promise<void>
  start(database: Database): Promise<Deliverer>
  /** Deliveries that are not known to be done. */
  countWaiting(sql: Sql): Promise<number>
}

/** A database of one run. */
export interface Database {
  url: string
  sql: Sql
}

/** The database `name` of the server at `target`, which listens on a unix socket. */
export function databaseOf(target: Extract<ConnectTarget, { socketDir: string }>, name: string): Database {
  const { socketDir, user } = target
  const url = `postgres://${user}@localhost/${name}?host=${encodeURIComponent(socketDir)}`
  return {
    url,
    sql: connect({ ...target, database: name }, { max: 2, applicationName: 'bench', statementTimeoutMs: 0 }),
  }
}

/** The settings at which each rival came out fastest. */
const GRAPHILE = { batch: 512, 'gather-ms': 0, pool: 10 }
const BOSS = { batch: 256, 'gather-ms': 0, pool: 2 }

interface RivalOptions {
  runtime: string
  concurrency: number
  /** For trying other settings; from `--rival-flags`. */
  flags: readonly string[]
}

const countOf = async (rows: Promise<{ count: number }[]>): Promise<number> => (await rows)[0]?.count ?? 0

/** graphile-worker and pg-boss, each as a process of `runtime`. */
export async function rivals({ runtime, concurrency, flags }: RivalOptions): Promise<Contender[]> {
  if (runtime.includes('/') && !existsSync(runtime)) throw new Error(`there is no ${runtime}`)
  const program = await buildRival()
  const contender = (
    name: string,
    settings: Record<string, number>,
    countWaiting: Contender['countWaiting'],
  ): Contender => {
    const command = (action: string, { url }: Database) => [runtime, program, name, action, '--database', url]
    const options = Object.entries({ ...settings, concurrency }).flatMap(([flag, value]) => [
      `--${flag}`,
      `${value}`,
    ])
    return {
      name,
      async fill(database, jobs) {
        const code = await startRival(command('fill', database), JSON.stringify(jobs)).exited
        if (code !== 0) throw new Error(`${name} could not be filled`)
      },
      start: async (database) =>
        delivererOf(startRival([...command('work', database), ...options, ...flags])),
      countWaiting,
    }
  }
  return [
    contender('graphile-worker', GRAPHILE, (sql) =>
      countOf(sql`
        select count(*)::int as count
        from graphile_worker._private_jobs`),
    ),
    contender('pg-boss', BOSS, (sql) =>
      countOf(sql`
        select count(*)::int as count
        from pgboss.job j
        where j.name = 'deliver'
          and j.state <> 'completed'`),
    ),
  ]
}
