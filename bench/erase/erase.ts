import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createOrganization, findOrganization } from '../../src/accounts/organizations/queries.ts'
import { createLog } from '../../src/base/log.ts'
import type { Sql } from '../../src/database/client.ts'
import { connect } from '../../src/database/client.ts'
import { migrate } from '../../src/database/migrate.ts'
import { openDatabase } from '../../src/database/open.ts'
import { lockHistory, lockOrganization } from '../../src/database/org-lock.ts'
import { updateOrganization } from '../../src/features/organization/queries.ts'
import { checkRollups } from '../../src/server/doctor/checks.ts'
import { deleteByIds } from '../../src/server/erasure/delete-sessions.ts'
import { deleteOrganization } from '../../src/server/erasure/organization.ts'
import { erasePerson } from '../../src/server/erasure/person.ts'
import { deleteExpiredSessions } from '../../src/server/erasure/retention.ts'
import { fill } from '../support/fill.ts'

// Measures how long deletions take, and how long a writer of the same organization waits for them at most: a second
// connection takes the organization's lock, and a third the history's, again and again. `bun bench/erase/erase.ts`;
// with --fill the organization is only made.

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '100000' },
    'data-dir': { type: 'string', default: resolve(import.meta.dir, '../../dist/bench-erase') },
    fill: { type: 'boolean', default: false },
  },
})
const SLUG = 'bench-erase'
const ACTOR = { userId: 'cli:bench', ipAddress: null }
const PAUSE_MS = 5

/** Runs `work`; prints its time, its result, and the longest wait for each lock meanwhile. */
async function measured(sql: Sql, orgId: string, what: string, work: () => Promise<unknown>): Promise<void> {
  let isRunning = true
  const waits = async (take: (sql: Sql) => Promise<void>) => {
    let longest = 0
    while (isRunning) {
      const startedMs = performance.now()
      await take(sql)
      longest = Math.max(longest, performance.now() - startedMs)
      await Bun.sleep(PAUSE_MS)
    }
    return longest
  }
  const probes = [
    waits((pool) => pool.begin((tx) => lockOrganization(tx, orgId)) as Promise<void>),
    waits((pool) => pool.begin((tx) => lockHistory(tx, orgId)) as Promise<void>),
  ]
  const startedMs = performance.now()
  const result = await work()
  const seconds = (performance.now() - startedMs) / 1_000
  isRunning = false
  const [organization = 0, history = 0] = await Promise.all(probes)
  process.stdout.write(
    `${what}: ${seconds.toFixed(2)} s, waits at most ${organization.toFixed(0)} ms for the organization, ${history.toFixed(0)} ms for the history; ${JSON.stringify(result)}\n`,
  )
}

const log = createLog('warn', 'pretty')
const config = { databaseUrl: null, dataDir: resolve(values['data-dir']), databasePool: 4 }
const database = await openDatabase(config, 'command', log)
const probe = connect(database.target, { max: 2, applicationName: 'probe', statementTimeoutMs: 0 })
try {
  const { sql } = database
  await migrate(sql, log)
  const known = await findOrganization(sql, SLUG)
  const { id } =
    known ?? (await createOrganization(sql, { slug: SLUG, name: SLUG, plan: 'cloud_enterprise' }))
  const sessions = Number(values.sessions)
  await fill(sql, id, SLUG, { sessions, risk: 1_000, commits: 20_000 })
  if (!values.fill) {
    await measured(probe, id, 'session delete of 1', () => deleteByIds(sql, id, ACTOR, ['sess_seed1_7']))
    await measured(
      probe,
      id,
      'session delete of 1,000',
      async () =>
        (
          await deleteByIds(
            sql,
            id,
            ACTOR,
            Array.from({ length: 1_000 }, (_each, index) => `sess_seed1_${100 + index}`),
          )
        ).length,
    )
    await measured(probe, id, 'member erase', () => erasePerson(sql, id, ACTOR, 'dev3@example.com'))
    await updateOrganization(sql, SLUG, { retention_sessions_days: 400, confirm_retention: 'all' })
    await measured(probe, id, 'retention', () => deleteExpiredSessions(sql, new Date()))
    process.stdout.write(`${(await checkRollups(sql, false)).message}\n`)
    const startedMs = performance.now()
    const rows = await deleteOrganization(sql, id)
    process.stdout.write(
      `org delete: ${rows} rows in ${((performance.now() - startedMs) / 1_000).toFixed(2)} s\n`,
    )
  }
} finally {
  await probe.end({ timeout: 5 })
  await database.close()
}
