import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey } from '../../src/accounts/keys/queries.ts'
import { createOrganization } from '../../src/accounts/organizations/queries.ts'
import { eventually, PROGRAM } from '../support/cli.ts'
import { type TestDatabase, testDatabase } from '../support/postgres.ts'
import { type Receiver, startReceiver } from '../support/receiver.ts'
import { type Instance, killInstances, SETTINGS, startInstance } from '../support/webhook-load.ts'

// Three instances on one database, one of them killed again and again: each firing and each digest is told once.

/** Seconds between two kills, and their number: `ALERT_KILLS=10 ALERT_KILL_S=60` is ten minutes. */
const KILLS = Number(process.env.ALERT_KILLS ?? 2)
const KILL_S = Number(process.env.ALERT_KILL_S ?? 10)
/** A change is told within a minute, after the restart of the instance that was about to tell it. */
const TOLD_MS = 120_000
const TEST_MS = KILLS * KILL_S * 1_000 + 3 * TOLD_MS

let database: TestDatabase
let receiver: Receiver
const home = mkdtempSync(join(tmpdir(), 'cloud-analytics-alerts-'))
beforeAll(async () => {
  database = await testDatabase()
  receiver = await startReceiver()
}, 60_000)
afterAll(async () => {
  await killInstances()
  receiver.close()
  await database.drop()
  rmSync(home, { recursive: true, force: true })
}, 60_000)

test(
  'instances that are killed while they look',
  async () => {
    const { sql } = database
    const { id: orgId } = await createOrganization(sql, { slug: 'acme', name: 'Acme', plan: 'cloud_team' })
    const { key } = await createKey(sql, orgId, { name: 'k', scopes: ['read', 'write', 'admin', 'webhooks'] })
    const start = (name: string) =>
      startInstance(PROGRAM, { ...SETTINGS, DATABASE_URL: database.url, DATA_DIR: join(home, name) })
    const instances: Instance[] = [await start('a'), await start('b'), await start('c')]
    let turn = 0
    /** Asks the instances in turn; one that was just killed is passed over. */
    const ask = async (path: string, body: object): Promise<{ id: string }> => {
      turn += 1
      const response = await fetch(`${instances[turn % instances.length]?.url}/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }).catch(() => undefined)
      return response === undefined ? await ask(path, body) : ((await response.json()) as { id: string })
    }
    const slack = { type: 'slack', url: receiver.url }
    await ask('/webhooks', { url: receiver.url, events: '*' })
    const alert = await ask('/alerts', {
      ...{ name: 'Each', metric: 'cost', window: 'month', each: 'project', above: 100 },
      destinations: [{ type: 'webhook' }, slack],
    })
    const digests = await Promise.all(
      Array.from({ length: KILLS }, (_, n) => ask('/digests', { name: `Week ${n}`, destinations: [slack] })),
    )
    let projects = 0
    const cross = async () => {
      projects += 1
      const session = {
        type: 'session',
        id: `sess_${projects}`,
        project_name: `p${projects}`,
        estimated_cost: 101,
      }
      await ask('/sync', { records: [{ ...session, created_at: new Date().toISOString() }] })
    }
    for (let kill = 0; kill < KILLS; kill += 1) {
      // a digest becomes due while instances are killed
      await sql`
        update notification_rules set due_at = now() + interval '5 seconds'
        where org_id = ${orgId} and id = ${digests[kill]?.id ?? ''}`
      for (let second = 0; second < KILL_S; second += 5) {
        await cross()
        await Bun.sleep(5_000)
      }
      const at = kill % instances.length
      await instances[at]?.end('SIGKILL')
      instances[at] = await start(['a', 'b', 'c'][at] ?? '')
    }
    const told = async (source: string | undefined) =>
      await sql<{ body: string; status: string; endpoint: string }[]>`
        select v.body, d.status, d.endpoint_id as endpoint
        from webhook_events v
        join webhook_deliveries d on d.org_id = v.org_id and d.event_id = v.id
        where v.org_id = ${orgId} and v.source = ${source ?? ''}
        order by v.id`
    const events = async () => (await told(alert.id)).filter(({ endpoint }) => endpoint.startsWith('hook_'))
    const done = await eventually(events, (rows) => rows.length >= projects, TOLD_MS)
    const keys = done.map(({ body }) => JSON.parse(body).data.key as string)
    expect(keys.toSorted()).toEqual(Array.from({ length: projects }, (_, n) => `p${n + 1}`).toSorted())
    // each project is in one message of Slack
    const messages = async () => (await told(alert.id)).filter(({ endpoint }) => endpoint.startsWith('dest_'))
    const named = (await messages()).flatMap(({ body }) =>
      [...body.matchAll(/Firing: (p\d+)/g)].map(([, name]) => name),
    )
    expect(named.toSorted()).toEqual(keys.toSorted())
    for (const digest of digests) expect(await told(digest.id)).toHaveLength(1)
    const open = async () => {
      const [row] = await sql`select count(*)::integer as open from webhook_queue q where q.org_id = ${orgId}`
      return row?.open as number
    }
    await eventually(open, (count) => count === 0, TOLD_MS)
    expect((await told(alert.id)).every(({ status }) => status === 'success')).toBe(true)
    process.stderr.write(
      `${KILLS} kills: ${keys.length} firings once, ${(await messages()).length} messages of Slack\n`,
    )
  },
  TEST_MS,
)
