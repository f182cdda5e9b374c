import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { updateBadges } from '../badges/queries.ts'
import { MAX_EMBEDDED_POOL } from '../config.ts'
import { connect, type Sql } from '../db/client.ts'
import { startEmbedded } from '../db/embedded.ts'
import { migrate } from '../db/migrate.ts'
import type { OpenDatabase } from '../db/open.ts'
import { createKey, createOrganization } from '../keys/queries.ts'
import type { Log } from '../log.ts'
import { demoBudget, demoMembers } from '../seed/demo.ts'
import { seedSessions } from '../seed/seed.ts'
import { writeRecords } from '../sync/write.ts'
import { commandLineActor } from './actor.ts'
import type { Context } from './context.ts'
import { answer, tell } from './output.ts'
import { serveUntilSignal } from './server.ts'
import { pricerOf, syncDepsOf } from './sync-deps.ts'

const ORG = 'demo'
const SESSIONS = 2_000
const PROJECTS = 8
const DAYS = 183
const SEED = 2

/**
 * `demo`: serve on a scratch database, never on that of the settings, with an organization, half a year of sessions and a
 * key. Everything is removed at the end.
 */
export async function demo(context: Context): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cloud-analytics-demo-'))
  const config = { ...context.config, databaseUrl: null, dataDir: folder }
  try {
    const scratch = { ...context, config }
    let key = ''
    const open = async () => {
      const database = await openScratch(
        folder,
        Math.min(config.databasePool, MAX_EMBEDDED_POOL),
        context.log,
      )
      try {
        key = await fill(scratch, database.sql)
        return database
      } catch (error) {
        await database.close()
        throw error
      }
    }
    await serveUntilSignal(scratch, open, async ({ url }) => {
      await answer(context.json, { url, key, org: ORG }, greeting(url, key))
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Nothing is flushed to disk: the database does not outlive the process. */
async function openScratch(dataDir: string, max: number, log: Log): Promise<OpenDatabase> {
  const embedded = await startEmbedded({ dataDir, log, durable: false })
  const { target } = embedded
  const sql = connect(target, { max, applicationName: 'cloud-analytics demo' })
  const close = async () => {
    await sql.end({ timeout: 5 })
    await embedded.stop()
  }
  return { sql, target, embedded, close }
}

async function fill(context: Context, sql: Sql): Promise<string> {
  tell('making six months of sample data…')
  await migrate(sql, context.log)
  const now = new Date()
  const actor = commandLineActor()
  const { id } = await createOrganization(sql, { slug: ORG, name: 'Demo', plan: 'cloud_team' }, actor)
  const plan = {
    sessions: SESSIONS,
    projects: PROJECTS,
    days: DAYS,
    seed: SEED,
    today: now.toISOString().slice(0, 10),
  }
  await seedSessions({ sql, now: () => now, pricer: pricerOf(context.config) }, id, plan)
  await writeRecords(syncDepsOf(context, sql), id, [...demoMembers(now), demoBudget(now, DAYS)], actor)
  await updateBadges(sql, ORG, { public: true, look: (known) => known })
  return (await createKey(sql, id, { name: 'demo', scopes: ['read', 'write'] }, actor)).key
}

const greeting = (url: string, key: string): string => {
  const curl = (path: string) => `  curl -s '${url}${path}' -H 'Authorization: Bearer ${key}'`
  const paths = [
    '/v1/sessions?per_page=3',
    '/v1/quality',
    '/v1/cost?group_by=week',
    '/v1/cost/trend?granularity=month',
  ]
  return `Cloud Analytics demo on ${url} (organization ${ORG}). Try:
${paths.map(curl).join('\n')}
Ctrl-C stops it and removes its data.`
}
