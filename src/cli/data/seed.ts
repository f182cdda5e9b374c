import { seedCommits } from '../../server/seed/commits.ts'
import { seedRisks } from '../../server/seed/risks.ts'
import { seedAudit, seedSessions } from '../../server/seed/seed.ts'
import { commandLineActor } from '../command/actor.ts'
import { type Context, withOrganization } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { startProgress } from '../command/progress.ts'
import { pricerOf } from '../command/sync-deps.ts'

interface SeedOptions {
  org: string
  sessions: number
  audit: number
  commits: number
  risk: number
  projects: number
  branches?: number
  tickets?: number
  days: number
  seed: number
}

/** `seed` */
export async function seed(context: Context, { org, ...wanted }: SeedOptions): Promise<void> {
  const startedMs = performance.now()
  await withOrganization(context, org, async (sql, id) => {
    const progress = await startProgress('seeding', wanted.sessions)
    try {
      const plan = { ...wanted, today: new Date().toISOString().slice(0, 10) }
      const deps = { sql, now: () => new Date(), pricer: pricerOf(context.config), actor: commandLineActor() }
      await seedSessions(deps, id, plan, (done) =>
        progress.set(done, `${done} of ${wanted.sessions} sessions`),
      )
      if (wanted.commits > 0) {
        await seedCommits(sql, id, plan, (done) =>
          progress.set(wanted.sessions, `${done} of ${wanted.commits} commits`),
        )
      }
      if (wanted.risk > 0) {
        await seedRisks(sql, id, plan, (done) =>
          progress.set(wanted.sessions, `${done} of ${wanted.risk} risk scores`),
        )
      }
      if (wanted.audit > 0) await seedAudit(deps, id, plan)
    } finally {
      progress.stop()
    }
  })
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10
  await printResult(context.json, { org, ...wanted, seconds }, `${wanted.sessions} sessions in ${seconds} s`)
}
