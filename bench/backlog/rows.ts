import { createKey } from '../../src/accounts/keys/queries.ts'
import { createOrganization } from '../../src/accounts/organizations/queries.ts'
import { newId, newOrderedId } from '../../src/base/ids.ts'
import type { Sql } from '../../src/database/client.ts'
import { secretContext } from '../../src/webhooks/attempt.ts'
import { insertEndpointRow } from '../../src/webhooks/queries.ts'
import { createSecretBox } from '../../src/webhooks/signing/secret-box.ts'
import { EVENT, SECRET } from '../delivery/jobs.ts'

// Inserts organizations, endpoints and backlogs as rows: syncing a backlog of 100,000 would take longer than
// the measurement.

/** SECRET_KEY of the program, with which secrets are encrypted here. */
export const KEY = new Uint8Array(32).fill(9)
/** Deliveries of one endpoint made by one statement. */
const CHUNK = 50_000

/** An organization and a key with all scopes. */
export interface Tenant {
  orgId: string
  key: string
}

export async function addTenant(sql: Sql, slug: string): Promise<Tenant> {
  const { id: orgId } = await createOrganization(sql, { slug, name: slug, plan: 'cloud_enterprise' })
  const { key } = await createKey(sql, orgId, { name: 'benchmark', scopes: ['read', 'write', 'webhooks'] })
  return { orgId, key }
}

/** Adds an endpoint for `session.completed`; returns its id. */
export async function addEndpoint(sql: Sql, orgId: string, url: string, enabled = true): Promise<string> {
  const id = newId('hook')
  const sealed = createSecretBox(KEY).seal(SECRET, secretContext(orgId, id))
  const endpoint = { url, events: [EVENT], enabled, description: null }
  await sql.begin((tx) => insertEndpointRow(tx, orgId, id, endpoint, { sealed, hint: SECRET.slice(-4) }))
  return id
}

/**
 * Adds `count` waiting deliveries to the endpoint, each due a millisecond after the previous one, from an
 * hour ago on. Each has an event of its own; its number is in the body: `sess_backlog00000042`.
 */
export async function addBacklog(sql: Sql, orgId: string, endpointId: string, count: number): Promise<void> {
  const run = newOrderedId('evt', new Date()).slice('evt_'.length)
  for (let first = 1; first <= count; first += CHUNK) {
    const last = Math.min(count, first + CHUNK - 1)
    await sql`
      with numbers as (
        select n, ${run}::text || lpad(n::text, 8, '0') as id
        from generate_series(${first}::integer, ${last}::integer) as n
      ),
      events as (
        insert into webhook_events (org_id, id, event, created_at, body)
        select
          ${orgId}, 'evt_' || n.id, ${EVENT}, now(),
          '{"id":"evt_' || n.id || '","event":"session.completed","type":"session.completed",'
          || '"timestamp":"2026-01-31T12:34:56.789Z","api_version":"v1","data":{"session_id":"sess_backlog'
          || lpad(n.n::text, 8, '0')
          || '","project_name":"platform-engineering/services/billing-and-invoices","quality_score":87.25}}'
        from numbers n
      ),
      counts as (
        insert into webhook_delivery_counts as c (org_id, endpoint_id, day, event, status, deliveries)
        values (${orgId}, ${endpointId}, (now() at time zone 'UTC')::date, ${EVENT}, 'pending', ${last - first + 1})
        on conflict (org_id, endpoint_id, day, event, status) do update set
          deliveries = c.deliveries + excluded.deliveries
      ),
      deliveries as (
        insert into webhook_deliveries (org_id, id, endpoint_id, event_id, event, status, attempts, created_at)
        select ${orgId}, 'dlv_' || n.id, ${endpointId}, 'evt_' || n.id, ${EVENT}, 'pending', 0, now()
        from numbers n
      )
      insert into webhook_queue (
        org_id, delivery_id, endpoint_id, event_id, mode, attempts, failures, lost, leased, due_at
      )
      select
        ${orgId}, 'dlv_' || n.id, ${endpointId}, 'evt_' || n.id, 'scheduled', 0, 0, 0, false,
        now() - interval '1 hour' + n.n * interval '1 millisecond'
      from numbers n`
  }
}
