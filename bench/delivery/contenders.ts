import { existsSync } from 'node:fs'
import { type ConnectTarget, connect, type ISql, type Sql } from '../../src/database/client.ts'
import { type Job, jobOf } from './jobs.ts'
import { buildRival, type Deliverer, delivererOf, startRival } from './processes.ts'

/** A program that delivers what waits in its database. */
export interface Contender {
  name: string
  /** Interval of its polling; 0: the database notifies it of new work. */
  pollMs: number
  /** Creates the tables, and `count` waiting deliveries to `url`. */
  fill(database: Database, url: string, count: number): Promise<void>
  start(database: Database): Promise<Deliverer>
  /** Number of deliveries without a recorded result. */
  countWaiting(sql: Sql): Promise<number>
  /** Commits the `at`th delivery to `url` in a transaction; the instant (`performance.now()`) before COMMIT is sent. */
  commitOne(sql: Sql, url: string, at: number): Promise<number>
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

/** The settings at which each rival took the least processor time: see docs/benchmarks.md. */
const GRAPHILE = { batch: 64, 'gather-ms': 0, pool: 10 }
/** The shortest interval that pg-boss allows. */
const BOSS_POLL_MS = 500
const BOSS = { batch: 1_000, 'gather-ms': 0, pool: 2 }

interface RivalOptions {
  runtime: string
  concurrency: number
  /** Tries other settings; they come from `--rival-flags`. */
  flags: readonly string[]
}

const countOf = async (rows: Promise<{ count: number }[]>): Promise<number> => (await rows)[0]?.count ?? 0

/** graphile-worker and pg-boss, each as a process of `runtime`. */
export async function rivals({ runtime, concurrency, flags }: RivalOptions): Promise<Contender[]> {
  if (runtime.includes('/') && !existsSync(runtime)) throw new Error(`there is no ${runtime}`)
  const program = await buildRival()
  const contender = (
    name: string,
    pollMs: number,
    settings: Record<string, number>,
    countWaiting: Contender['countWaiting'],
    add: (tx: ISql, job: Job) => Promise<unknown>,
  ): Contender => {
    const command = (action: string, { url }: Database) => [runtime, program, name, action, '--database', url]
    const options = Object.entries({ ...settings, concurrency }).flatMap(([flag, value]) => [
      `--${flag}`,
      `${value}`,
    ])
    return {
      name,
      pollMs,
      async fill(database, url, count) {
        const jobs = Array.from({ length: count }, (_, at) => jobOf(url, at))
        const code = await startRival(command('fill', database), JSON.stringify(jobs)).exited
        if (code !== 0) throw new Error(`${name} could not be filled`)
      },
      start: async (database) =>
        delivererOf(startRival([...command('work', database), ...options, ...flags])),
      countWaiting,
      async commitOne(sql, url, at) {
        const job = jobOf(url, at)
        return await sql.begin(async (tx) => {
          await add(tx, job)
          return performance.now()
        })
      },
    }
  }
  return [
    contender(
      'graphile-worker',
      0,
      GRAPHILE,
      (sql) =>
        countOf(sql`
        select count(*)::int as count
        from graphile_worker._private_jobs`),
      (tx, job) => tx`
        select j.id
        from graphile_worker.add_job('deliver', ${JSON.stringify(job)}::text::json) j`,
    ),
    contender(
      'pg-boss',
      BOSS_POLL_MS,
      BOSS,
      (sql) =>
        countOf(sql`
        select count(*)::int as count
        from pgboss.job j
        where j.name = 'deliver'
          and j.state <> 'completed'`),
      (tx, job) => tx`
        insert into pgboss.job (name, data)
        values ('deliver', ${JSON.stringify(job)}::text::jsonb)`,
    ),
  ]
}
