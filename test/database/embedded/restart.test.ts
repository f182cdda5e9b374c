// Without patches/postgres@3.4.9.patch postgres.js throws an error outside of any promise when PostgreSQL restarts
// during a transaction, and hangs afterwards.

import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect, type Sql } from '../../../src/database/client.ts'
import { startEmbedded } from '../../../src/database/embedded/embedded-server.ts'
import { eventually } from '../../support/cli.ts'
import { silent as log } from '../../support/postgres.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'cloud-analytics-restart-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

/** Runs `work` in a loop until `stop`; counts successes and failures. */
function loop(work: () => Promise<unknown>) {
  const state = { succeeded: 0, failed: 0, running: true }
  const done = (async () => {
    while (state.running) {
      try {
        await work()
        state.succeeded++
      } catch {
        state.failed++
        await Bun.sleep(5)
      }
    }
  })()
  const stop = () => {
    state.running = false
    return done
  }
  return { state, stop }
}

/** A transaction that is open between its statements, here and in the server. */
const transaction = (sql: Sql) =>
  sql.begin(async (tx) => {
    await tx`insert into ledger (note) values ('first')`
    await Bun.sleep(5)
    await tx`insert into ledger (note) values ('second')`
  })

for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
  test(`queries and transactions come back after PostgreSQL restarts (${signal}), none half done`, async () => {
    let embedded = await startEmbedded({ dataDir, log, durable: false })
    const sql = connect(embedded.target, { max: 6, applicationName: 'test' })
    await sql`create table if not exists ledger (note text)`
    const loops = [
      ...Array.from({ length: 8 }, () => loop(() => transaction(sql))),
      ...Array.from({ length: 4 }, () => loop(() => sql`select pg_sleep(0.002)`)),
    ]
    const counts = async () => loops.map(({ state }) => state.succeeded)
    await eventually(counts, (now) => now.every((count) => count > 3))
    process.kill(embedded.pid, signal)
    await embedded.exited
    await embedded.stop()
    embedded = await startEmbedded({ dataDir, log, durable: false })
    const before = await counts()
    await eventually(counts, (now) => now.every((count, index) => count > (before[index] ?? 0) + 3))
    await Promise.all(loops.map(({ stop }) => stop()))
    const [row] = await sql`
      select count(*) filter (where l.note = 'first') - count(*) filter (where l.note = 'second') as half_done
      from ledger l`
    expect(row).toEqual({ half_done: '0' })
    await sql.end({ timeout: 1 })
    await embedded.stop()
  }, 180_000)
}
