// Reads, writes and claims stored alerts and digests. Requests need the organization's lock, looks that of the rule's row.

import { UTC } from '../../base/dates.ts'
import { ApiError } from '../../base/errors.ts'
import type { Fragment, ISql, Sql } from '../../database/client.ts'
import { inDays, readPage, unnest } from '../../database/rows.ts'
import { deliveryItem } from '../../webhooks/deliveries/history-queries.ts'
import type { DeliveryListQuery } from '../../webhooks/deliveries/model.ts'
import type { RuleDelivery } from './destination-model.ts'
import type { StoredDestination } from './destinations.ts'
import type { DigestDefinition } from './digest-model.ts'
import type { States } from './evaluate.ts'
import type { Alert, Watched } from './model.ts'

export interface Definitions {
  alert: Watched & Pick<Alert, 'name'> & { destinations: StoredDestination[] }
  digest: DigestDefinition & { destinations: StoredDestination[] }
}
export type RuleKind = keyof Definitions

export interface Rule<Kind extends RuleKind = RuleKind> {
  id: string
  kind: Kind
  definition: Definitions[Kind]
  enabled: boolean
  created_at: Date
  states: States
  due_at: Date
  last_sent_at: Date | null
}

const columns = (sql: ISql) => sql`
  r.id, r.kind, r.definition, r.enabled, r.created_at, r.states, r.due_at, r.last_sent_at`

export async function listRules<Kind extends RuleKind>(sql: ISql, orgId: string, kind: Kind) {
  return await sql<Rule<Kind>[]>`
    select ${columns(sql)}
    from notification_rules r
    where r.org_id = ${orgId}
      and r.kind = ${kind}
    order by r.created_at, r.id`
}

/** One rule; to change it, after a look that writes its state. Throws NOT_FOUND. */
export async function getRule<Kind extends RuleKind>(
  sql: ISql,
  orgId: string,
  kind: Kind,
  id: string,
  { toChange = false } = {},
): Promise<Rule<Kind>> {
  const [row] = await sql<Rule<Kind>[]>`
    select ${columns(sql)}
    from notification_rules r
    where r.org_id = ${orgId}
      and r.kind = ${kind}
      and r.id = ${id}
    ${toChange ? sql`for update` : sql``}`
  if (row === undefined) throw noRule(kind)
  return row
}

export const noRule = (kind: RuleKind) => new ApiError('NOT_FOUND', `no such ${kind}`)

/** Inserts the rule, or replaces it. Needs its lock. */
export async function putRule(
  tx: ISql,
  orgId: string,
  { id, kind, definition, enabled, due_at, states }: Omit<Rule, 'created_at' | 'last_sent_at'>,
): Promise<void> {
  await tx`
    insert into notification_rules as r (org_id, id, kind, definition, enabled, created_at, states, due_at)
    values (
      ${orgId}, ${id}, ${kind}, ${JSON.stringify(definition)}::text::jsonb, ${enabled}, now(),
      ${JSON.stringify(states)}::text::jsonb, ${due_at}
    )
    on conflict (org_id, id) do update set
      definition = excluded.definition,
      enabled = excluded.enabled,
      states = excluded.states,
      due_at = excluded.due_at`
}

/**
 * The condition that a rule `r` of the organization must be looked at: `l` has the version of its data, which neither the state
 * of endpoints nor time changes. Results of deliveries are written up to a minute before they are seen. To lock, Citus needs
 * the organization named within `or` too.
 */
const isDue = (sql: ISql, orgId: Fragment, now: Date): Fragment => sql`
  r.enabled
  and (
    r.due_at <= ${now}
    or (
      r.kind = 'alert'
      and (
        r.version is distinct from l.version
        or (
          r.definition ->> 'metric' = 'failing_endpoints'
          and exists (
            select
            from webhook_health h
            where h.org_id = ${orgId}
              and greatest(h.last_success_at, h.last_failure_at) > r.looked_at - interval '1 minute'
          )
        )
      )
    )
  )`

/** Organizations with rules that are due, in no order: one read without locks. */
export async function findOrganizationsToLookAt(sql: Sql, now: Date): Promise<string[]> {
  const rows = await sql<{ org_id: string }[]>`
    select distinct r.org_id
    from notification_rules r
    join org_locks l on l.org_id = r.org_id
    where ${isDue(sql, sql`r.org_id`, now)}
      -- figures are still moving to other days
      and not exists (select from usage_walks w where w.org_id = r.org_id)`
  return rows.map(({ org_id }) => org_id)
}

/** Locks the organization's rules that are due and nobody looks at, or with `all` every one, with the version before the look. */
export async function claimRules(tx: ISql, orgId: string, now: Date, { all = false } = {}) {
  return await tx<(Rule & { version: string })[]>`
    select ${columns(tx)}, l.version::text as version
    from notification_rules r
    join org_locks l on l.org_id = r.org_id
    where r.org_id = ${orgId}
      ${all ? tx`` : tx`and ${isDue(tx, tx`${orgId}`, now)}`}
    order by r.created_at, r.id
    for update of r ${all ? tx`` : tx`skip locked`}`
}

/** Stores what a look found. */
export async function settleRules(
  tx: ISql,
  orgId: string,
  rules: readonly (Rule & { version: string })[],
  now: Date,
): Promise<void> {
  await tx`
    update notification_rules r
    set
      states = n.states::jsonb,
      due_at = n.due_at,
      last_sent_at = n.last_sent_at,
      version = n.version::uuid,
      looked_at = ${now}
    from ${unnest(tx, rules, {
      ...({ id: 'text', version: 'text' } as const),
      states: ['json', ({ states }) => JSON.stringify(states)],
      due_at: ['timestamptz', ({ due_at }) => due_at.toISOString()],
      last_sent_at: ['timestamptz', ({ last_sent_at }) => last_sent_at?.toISOString() ?? null],
    })}
    where r.org_id = ${orgId}
      and r.id = n.id`
}

/** Renames the project of alerts. Needs the organization's lock. */
export async function renameInRules(tx: ISql, orgId: string, { from, to }: { from: string; to: string }) {
  await tx`
    update notification_rules r
    set definition = jsonb_set(r.definition, '{scope,project}', to_jsonb(${to}::text))
    where r.org_id = ${orgId}
      and r.definition #>> '{scope,project}' = ${from}`
}

// The deliveries of an alert or a digest, to all kinds of receivers.

/** A page of the deliveries that match, newest first. */
export async function listRuleDeliveries(sql: ISql, orgId: string, ruleId: string, query: DeliveryListQuery) {
  const { status, event } = query
  const { data, pagination } = await readPage<{ item: Omit<RuleDelivery, 'test'>; test: boolean }>(
    sql,
    query,
    {
      columns: sql`${deliveryItem(sql, orgId)}, v.test`,
      from: sql`
      from webhook_events v
      join webhook_deliveries d on d.org_id = v.org_id and d.event_id = v.id
      where v.org_id = ${orgId}
        and v.source = ${ruleId}
        ${status === undefined ? sql`` : sql`and d.status = ${status}`}
        ${event === undefined ? sql`` : sql`and d.event = ${event}`}
        ${inDays(sql, sql`d.created_at`, query, UTC)}`,
      order: sql`d.created_at desc, d.id desc`,
    },
  )
  return { data: data.map(({ item, test }) => ({ ...item, test })), pagination }
}

/** The endpoint of a delivery of the rule, whether it is still there, and whether it was a test. Throws NOT_FOUND. */
export async function getRuleDelivery(sql: ISql, orgId: string, ruleId: string, id: string) {
  const [row] = await sql<{ endpointId: string; hasEndpoint: boolean; test: boolean }[]>`
    select d.endpoint_id as "endpointId", v.test, e.id is not null as "hasEndpoint"
    from webhook_deliveries d
    join webhook_events v on v.org_id = d.org_id and v.id = d.event_id
    left join webhook_endpoints e on e.org_id = d.org_id and e.id = d.endpoint_id
    where d.org_id = ${orgId}
      and d.id = ${id}
      and v.source = ${ruleId}`
  if (row === undefined) throw new ApiError('NOT_FOUND', 'no such delivery')
  return row
}
