import { plural } from '../../base/text.ts'
import type { SeedPlan } from '../../server/seed/generate.ts'
import { seed as writeSeed } from '../../server/seed/seed.ts'
import { commandLineActor } from '../command/actor.ts'
import { type Context, withOrganization } from '../command/context.ts'
import { printResult } from '../command/output.ts'
import { startProgress } from '../command/progress.ts'
import { syncDepsOf } from '../command/sync-deps.ts'

type Counts = Record<'sessions' | 'audit' | 'commits' | 'risk', number>

export async function seed(
  context: Context,
  { org, ...wanted }: { org: string } & Counts & Omit<SeedPlan, keyof Counts | 'today'>,
): Promise<void> {
  const startedMs = performance.now()
  const total = wanted.sessions + wanted.commits + wanted.risk + wanted.audit
  await withOrganization(context, org, async (sql, id) => {
    using progress = await startProgress('seeding', total)
    const plan = { ...wanted, today: new Date().toISOString().slice(0, 10) }
    await writeSeed(syncDepsOf(context, sql), id, plan, {
      actor: commandLineActor(),
      onProgress: (done) => progress.set(done, `${done} of ${total} records`),
    })
  })
  const seconds = Math.round((performance.now() - startedMs) / 100) / 10
  await printResult(
    context.json,
    { org, ...wanted, seconds },
    `${plural(wanted.sessions, 'session')} in ${seconds} s`,
  )
}
