// `demo`: a server with made-up data.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '../../accounts/keys/queries.ts'
import { createOrganization } from '../../accounts/organizations/queries.ts'
import { DAY_MS, dateOf } from '../../base/dates.ts'
import type { Log } from '../../base/log.ts'
import { MAX_EMBEDDED_POOL } from '../../config.ts'
import type { Sql } from '../../database/client.ts'
import { startEmbedded } from '../../database/embedded/embedded-server.ts'
import { migrate } from '../../database/migrate.ts'
import type { OpenDatabase } from '../../database/open.ts'
import { inOrganization } from '../../database/org-lock.ts'
import { createReconnectingPool } from '../../database/pools/reconnecting-pool.ts'
import { updateOrganization } from '../../features/organization/queries.ts'
import { EXAMPLE_IDS } from '../../http/openapi/examples.ts'
import type { Change } from '../../http/queues/gate.ts'
import { generateHotWork } from '../../server/seed/demo-hot.ts'
import { addDemoRules } from '../../server/seed/demo-rules.ts'
import {
  DAYS,
  demoBudgets,
  demoLimits,
  demoMembers,
  demoNotes,
  demoPlans,
  demoReport,
  READER,
  SEED,
} from '../../server/seed/demo-team.ts'
import { generateWork } from '../../server/seed/demo-work.ts'
import { generateAudit } from '../../server/seed/risks.ts'
import { writeRecords } from '../../server/sync/write.ts'
import { createEndpoint } from '../../webhooks/endpoints.ts'
import { createSecretBox } from '../../webhooks/signing/secret-box.ts'
import { loadSecretKey } from '../../webhooks/signing/secret-key.ts'
import { commandLineActor } from '../command/actor.ts'
import type { Context } from '../command/context.ts'
import { printMessage, printResult } from '../command/output.ts'
import { syncDepsOf } from '../command/sync-deps.ts'
import { receivedLine } from '../webhook/delivery-text.ts'
import { startReceiver } from '../webhook/receiver.ts'
import { serveUntilSignal } from './until-signal.ts'

const ORG = 'demo'
/** Audit entries. */
const ENTRIES = 90
/** One of the machines has sent nothing since. */
const SILENT_DAYS = 6
const SILENT = { email: 'greta@example.com', machine: 'greta-desktop' }

const LOOPBACK = '127.0.0.0/8'

/** `fill` made these; the greeting shows them. */
interface DemoData {
  key: string
  /** Opens the dashboard as one of the members. */
  readerKey: string
  /** Id of the endpoint that delivers to the demo's own receiver. */
  endpoint: string
  /** Adds a member once the server listens, which sends the first webhook. */
  welcome: () => Promise<void>
}

/** `demo`: serves a scratch database with half a year of sessions, a key and a webhook receiver, and removes it at the end. */
export async function demo(context: Context): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'cloud-analytics-demo-'))
  const config = {
    ...context.config,
    databaseUrl: null,
    databasePool: Math.min(context.config.databasePool, MAX_EMBEDDED_POOL),
    dataDir: folder,
    backupDir: null,
    backupEveryS: null,
    // the demo's receiver is on this machine
    webhookAllowHttp: true,
    webhookAllowCidrs: [...context.config.webhookAllowCidrs, LOOPBACK],
  }
  const scratch = { ...context, config }
  const webhooks = startDemoWebhooks(scratch)
  try {
    let filled: DemoData | undefined
    const open = async () => {
      const database = await openScratch(folder, config.databasePool, context.log)
      try {
        filled = await fill(scratch, database.sql, webhooks)
        return database
      } catch (error) {
        await database.close()
        throw error
      }
    }
    await serveUntilSignal(scratch, open, async ({ url }) => {
      if (filled === undefined) return undefined
      const { key, welcome } = filled
      await printResult(context.json, { url, key, org: ORG }, greeting(url, filled))
      await welcome()
      return undefined
    })
  } finally {
    await webhooks.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Nothing is flushed to disk: the database does not outlive the process. */
async function openScratch(dataDir: string, max: number, log: Log): Promise<OpenDatabase> {
  const embedded = await startEmbedded({ dataDir, log, durable: false })
  const { target } = embedded
  const pool = createReconnectingPool(target, { max, applicationName: 'cloud-analytics demo' })
  const close = async () => {
    await pool.end(5)
    await embedded.stop()
  }
  return { sql: pool.sql, pool, target, embedded, close, [Symbol.asyncDispose]: close }
}

async function fill(context: Context, sql: Sql, webhooks: DemoWebhooks): Promise<DemoData> {
  printMessage('making six months of sample data…')
  await migrate(sql, context.log)
  const now = new Date()
  const actor = commandLineActor()
  const { id } = await createOrganization(sql, { slug: ORG, name: 'Demo', plan: 'cloud_team' }, actor)
  const deps = syncDepsOf(context, sql)
  const members = demoMembers(now)
  const plan = { days: DAYS, seed: SEED, now }
  const [usual, hot] = [generateWork(plan), generateHotWork(plan)]
  const commits = [...usual.commits, ...hot.commits]
  const pullRequests = [...usual.pullRequests, ...hot.pullRequests]
  await writeRecords(
    deps,
    id,
    [...members.slice(0, -1), ...demoBudgets(now, DAYS), ...demoNotes(now), ...commits],
    actor,
  )
  // pull requests are computed from the commits and the findings of the sessions
  const silentSince = new Date(now.getTime() - SILENT_DAYS * DAY_MS)
  const machineOf = ({ user_email, created_at }: (typeof usual.sessions)[number]) =>
    user_email === SILENT.email && created_at < silentSince.toISOString()
      ? SILENT.machine
      : `${user_email?.split('@')[0]}-laptop`
  for (const [machine, sessions] of Map.groupBy([...usual.sessions, ...hot.sessions], machineOf)) {
    const at = machine === SILENT.machine ? { ...deps, now: () => silentSince } : deps
    await writeRecords(at, id, sessions, actor, { machine })
  }
  const managers = members.flatMap(({ email, role }) => (role === 'developer' ? [] : [email]))
  const audit = generateAudit({ audit: ENTRIES, days: DAYS, seed: SEED, today: dateOf(now) }, managers)
  await writeRecords(deps, id, [...pullRequests, ...audit, demoReport(now)], actor)
  await updateOrganization(sql, ORG, { badges: { visibility: 'public' } }, actor)
  // its reader tries everything: dismissing a finding and making an alert need an admin
  const scopes = ['read', 'write', 'webhooks', 'admin'] as const
  const { key } = await createKey(
    sql,
    id,
    { name: 'demo', scopes: [...scopes], id: EXAMPLE_IDS.key_id },
    actor,
  )
  const reader = { name: 'dashboard', scopes: [...scopes], member: READER }
  const { key: readerKey } = await createKey(sql, id, reader, actor)
  await writeRecords(deps, id, [...demoPlans(now, DAYS), ...demoLimits(now)], actor)
  // last, so that the changes above send no webhooks
  const [endpoint, failing] = await webhooks.register(sql, id)
  await addDemoRules(sql, id, { endpoint, failing }, now, context.config.webhookTimeoutMs, actor)
  return {
    key,
    readerKey,
    endpoint,
    async welcome() {
      await writeRecords(deps, id, members.slice(-1), actor)
    },
  }
}

const PATHS = [
  '/v1/sessions?per_page=3',
  '/v1/quality',
  '/v1/cost?group_by=week',
  '/v1/cost/trend?granularity=month',
]

const greeting = (url: string, { key, readerKey, endpoint }: DemoData): string => {
  const curl = (path: string, options = '') =>
    `  curl -s ${options}'${url}${path}' -H 'Authorization: Bearer ${key}'`
  return `Open the demo, signed in: ${url}/#key=${readerKey}
For programs, the API (organization ${ORG}):
${PATHS.map((path) => curl(path)).join('\n')}
Webhooks are received and verified here. This sends one:
${curl(`/v1/webhooks/${endpoint}/test`, '-X POST ')}
Ctrl-C stops it and removes its data.`
}

/** Starts a receiver that prints a line for each delivery, with the result of the signature check, and one that fails. */
function startDemoWebhooks({ config }: Pick<Context, 'config'>) {
  let secret: string | null = null
  const shared = { port: 0, secret: () => secret, prefix: config.webhookHeaderPrefix }
  const receiver = startReceiver({
    ...{ ...shared, status: 200 },
    onReceived: (received) => printMessage(`webhook received: ${receivedLine(received)}`),
  })
  const failing = startReceiver({ ...shared, secret: () => null, status: 503, onReceived: () => {} })
  return {
    async stop() {
      await Promise.all([receiver.stop(), failing.stop()])
    },
    /** Registers an endpoint for all events of the organization, and one for few. Returns their ids. */
    async register(sql: Sql, orgId: string): Promise<[endpoint: string, failing: string]> {
      const box = createSecretBox(loadSecretKey(config))
      const settings = {
        url: `${receiver.url}/`,
        events: ['*'],
        enabled: true,
        description: "The demo's own receiver",
      }
      const inTurn: Change = (id, work) => inOrganization(sql, id, work)
      const deps = { inTurn, box, maxEndpoints: config.webhookMaxEndpoints }
      const id = EXAMPLE_IDS.webhook_id
      const endpoint = await createEndpoint(deps, orgId, commandLineActor(), settings, undefined, id)
      secret = endpoint.secret
      const few = {
        ...{ url: `${failing.url}/`, events: ['security.alert'], enabled: true },
        description: 'Posts to the team channel',
      }
      const { id: second } = await createEndpoint(deps, orgId, commandLineActor(), few, undefined)
      return [endpoint.id, second]
    },
  }
}

type DemoWebhooks = ReturnType<typeof startDemoWebhooks>
