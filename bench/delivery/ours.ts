import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createOrganization, findOrganization } from '../../src/accounts/organizations/queries.ts'
import { newId } from '../../src/base/ids.ts'
import { createLog } from '../../src/base/log.ts'
import type { Sql } from '../../src/database/client.ts'
import { migrate } from '../../src/database/migrate.ts'
import { lockOrganization } from '../../src/database/org-lock.ts'
import { secretContext } from '../../src/webhooks/attempt.ts'
import { insertEndpointRow } from '../../src/webhooks/endpoint-queries.ts'
import { emit, type NewEvent } from '../../src/webhooks/outbox/events.ts'
import { createSecretBox } from '../../src/webhooks/signing/secret-box.ts'
import type { Contender } from './contenders.ts'
import { dataOf, EVENT, SECRET } from './jobs.ts'
import { delivererOf } from './processes.ts'

// The built executable as a contender: an organization with one endpoint, and events emitted by our own code
// while no server is running.

export const OUR_NAME = 'cloud-analytics'
const SLUG = 'bench'
const KEY = new Uint8Array(32).fill(9)
/** Events in one transaction. */
const CHUNK = 1_000

interface OurOptions {
  executable: string
  /** Folder for its DATA_DIR; its tables are in the benchmark's database. */
  folder: string
  concurrency: number
}

const eventOf = (at: number): NewEvent => ({ event: EVENT, data: dataOf(at) })

/** Creates the tables, an organization, and its endpoint at `url`. Returns the organization's id. */
async function prepareOrganization(sql: Sql, url: string): Promise<string> {
  await migrate(sql, createLog('warn', 'pretty'))
  const { id: orgId } = await createOrganization(sql, { slug: SLUG, name: SLUG, plan: 'cloud_enterprise' })
  const endpointId = newId('hook')
  const sealed = createSecretBox(KEY).seal(SECRET, secretContext(orgId, endpointId))
  const endpoint = { url, events: [EVENT], enabled: true, description: null }
  await sql.begin((tx) =>
    insertEndpointRow(tx, orgId, endpointId, endpoint, { sealed, hint: SECRET.slice(-4) }),
  )
  return orgId
}

/**
 * Slots for each request in flight. A slot is held from the claim to the settlement, and one organization may
 * take two thirds of the slots; the rivals count only requests. With 64 slots a claim would have 14
 * deliveries.
 */
const SLOTS_FOR_EACH = 15

/** The executable, which may use all its slots for one endpoint. */
export function ours({ executable, folder, concurrency }: OurOptions): Contender {
  return {
    name: OUR_NAME,
    pollMs: 0,
    async fill({ sql }, url, count) {
      const orgId = await prepareOrganization(sql, url)
      for (let first = 0; first < count; first += CHUNK) {
        const events = Array.from({ length: Math.min(CHUNK, count - first) }, (_, at) => eventOf(first + at))
        await sql.begin(async (tx) => {
          await lockOrganization(tx, orgId)
          await emit(tx, orgId, new Date(), events)
        })
      }
    },
    async start({ url }) {
      const dataDir = join(folder, 'program')
      mkdirSync(dataDir, { recursive: true })
      const child = Bun.spawn([executable, 'serve'], {
        env: {
          PATH: process.env.PATH ?? '',
          HOST: '127.0.0.1',
          PORT: '0',
          DATA_DIR: dataDir,
          DATABASE_URL: url,
          SECRET_KEY: Buffer.from(KEY).toString('base64'),
          WEBHOOK_ALLOW_HTTP: 'true',
          WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
          WEBHOOK_CONCURRENCY: String(SLOTS_FOR_EACH * concurrency),
          WEBHOOK_ENDPOINT_CONCURRENCY: String(SLOTS_FOR_EACH * concurrency),
          LOG_LEVEL: 'warn',
        },
        stdio: ['ignore', 'ignore', 'inherit'],
      })
      return delivererOf(child)
    },
    async countWaiting(sql) {
      const [row] = await sql<{ count: number }[]>`
        select count(*)::int as count
        from webhook_queue q`
      return row?.count ?? 0
    },
    async commitOne(sql, _url, at) {
      const { id: orgId = '' } = (await findOrganization(sql, SLUG)) ?? {}
      return await sql.begin(async (tx) => {
        await lockOrganization(tx, orgId)
        await emit(tx, orgId, new Date(), [eventOf(at)])
        return performance.now()
      })
    },
  }
}
