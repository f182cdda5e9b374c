// Reads and writes the rows of endpoints. Changes need the organization's lock.

import { TIME_PATTERN } from '../base/dates.ts'
import { ApiError } from '../base/errors.ts'
import type { Fragment, ISql } from '../database/client.ts'
import { deleteFrom } from '../database/rows.ts'
import type { EndpointChange, NewEndpoint } from './endpoint-check.ts'
import type { Endpoint } from './model.ts'
import { cancelWaiting } from './outbox/end.ts'
import { wakeWorker } from './outbox/events.ts'

const time = (sql: ISql, column: Fragment) => sql`to_char(${column} at time zone 'UTC', ${TIME_PATTERN})`

const selectEndpoints = (sql: ISql, orgId: string, which: Fragment) => sql<Endpoint[]>`
  select
    e.id, e.url, e.events, e.enabled, e.description, ${time(sql, sql`e.created_at`)} as created_at,
    ${time(sql, sql`e.updated_at`)} as updated_at, e.secret_hint,
    json_build_object(
      'consecutive_failures', coalesce(h.consecutive_failures, 0),
      'last_success_at', ${time(sql, sql`h.last_success_at`)},
      'last_failure_at', ${time(sql, sql`h.last_failure_at`)},
      'last_status_code', h.last_status_code
    ) as health
  from webhook_endpoints e
  left join webhook_health h on h.org_id = e.org_id and h.endpoint_id = e.id
  where e.org_id = ${orgId}
    and e.owner is null
    ${which}
  order by e.created_at, e.id`

/** The organization's endpoints, oldest first. */
export async function listEndpoints(sql: ISql, orgId: string): Promise<Endpoint[]> {
  return [...(await selectEndpoints(sql, orgId, sql``))]
}

/** Throws NOT_FOUND, also for an id of another organization and for a text that is no id. */
export async function getEndpoint(sql: ISql, orgId: string, id: string): Promise<Endpoint> {
  const [row] = await selectEndpoints(sql, orgId, sql`and e.id = ${id}`)
  if (row === undefined) throw noEndpoint()
  return row
}

/** The error of every request for an endpoint that does not exist. */
export const noEndpoint = () => new ApiError('NOT_FOUND', 'no such webhook endpoint')

export async function countEndpoints(tx: ISql, orgId: string): Promise<number> {
  const [row] = await tx<{ endpoints: number }[]>`
    select count(*)::integer as endpoints
    from webhook_endpoints e
    where e.org_id = ${orgId}
      and e.owner is null`
  return row?.endpoints ?? 0
}

interface StoredSecret {
  sealed: Uint8Array
  /** Its last characters. */
  hint: string
}

/** Adds an endpoint, of the rule `owner` or registered, and with the organization's first the row that claims lock. */
export async function insertEndpointRow(
  tx: ISql,
  orgId: string,
  id: string,
  { url, events, enabled, description }: NewEndpoint,
  secret: StoredSecret,
  owner: string | null = null,
): Promise<void> {
  await tx`
    insert into webhook_claims (org_id)
    values (${orgId})
    on conflict do nothing`
  await tx`
    insert into webhook_endpoints (
      org_id, id, url, events, enabled, description, secret, secret_hint, owner, created_at, updated_at
    )
    select
      ${orgId}, ${id}, ${url}, ${events}::text[], ${enabled}, ${description}, ${secret.sealed}, ${secret.hint},
      ${owner}, n.now, n.now
    from (select clock_timestamp() as now) n`
}

/** Updates the given fields and wakes the worker: an endpoint enabled again may have due deliveries. */
export async function updateEndpointRow(tx: ISql, orgId: string, id: string, change: EndpointChange) {
  await tx`
    update webhook_endpoints e
    set
      url = coalesce(${change.url ?? null}, e.url),
      events = coalesce(${change.events ?? null}::text[], e.events),
      enabled = coalesce(${change.enabled ?? null}, e.enabled),
      description = ${change.description === undefined ? tx`e.description` : change.description},
      updated_at = statement_timestamp()
    where e.org_id = ${orgId}
      and e.id = ${id}`
  await wakeWorker(tx, orgId)
}

/** Replaces the secret. The one that was valid alone is valid for `graceS` more seconds. Returns when it expires. */
export async function replaceSecret(
  tx: ISql,
  orgId: string,
  id: string,
  secret: StoredSecret,
  graceS: number,
): Promise<Date | null> {
  // the database's clock, since senders compare with it; a parameter, since Citus refuses a function in CASE
  const [clock] = await tx<{ now: Date }[]>`select statement_timestamp() as now`
  const now = clock?.now ?? new Date()
  const expiresAt = graceS === 0 ? null : new Date(now.getTime() + graceS * 1_000)
  const [row] = await tx<{ previous_secret_expires_at: Date | null }[]>`
    update webhook_endpoints e
    set
      secret = ${secret.sealed},
      secret_hint = ${secret.hint},
      previous_secret = ${
        graceS === 0
          ? null
          : tx`case when e.previous_secret_expires_at > ${now} then e.previous_secret else e.secret end`
      },
      previous_secret_expires_at = ${expiresAt},
      updated_at = statement_timestamp()
    where e.org_id = ${orgId}
      and e.id = ${id}
    returning e.previous_secret_expires_at`
  return row?.previous_secret_expires_at ?? null
}

/** Forgets the previous secret. False when it was not valid any more. */
export async function dropPreviousSecret(tx: ISql, orgId: string, id: string): Promise<boolean> {
  const { count } = await tx`
    update webhook_endpoints e
    set
      previous_secret = null,
      previous_secret_expires_at = null,
      updated_at = statement_timestamp()
    where e.org_id = ${orgId}
      and e.id = ${id}
      and e.previous_secret_expires_at > statement_timestamp()`
  return count > 0
}

/** Waiting deliveries cancelled together with their endpoint; housekeeping cancels the rest. */
const MAX_CANCELLED = 10_000

/** Deletes the endpoint and cancels what waits. Attempts in flight may still arrive. False when there is none. */
export async function deleteEndpointRow(tx: ISql, orgId: string, id: string): Promise<boolean> {
  const deleted = await deleteFrom(tx, orgId, 'webhook_endpoints', tx`and t.id = ${id}`)
  if (deleted === 0) return false
  await deleteFrom(tx, orgId, 'webhook_health', tx`and t.endpoint_id = ${id}`)
  await cancelWaiting(tx, orgId, id, MAX_CANCELLED)
  return true
}
