// The alert and the digest of the demo, each with a test that its webhook endpoint has received, a test that another one
// has not, and days that are drawn for a team.

import type { Actor } from '../../accounts/audit-log/append.ts'
import { addDays, dateOf, UTC } from '../../base/dates.ts'
import type { Sql } from '../../database/client.ts'
import { inOrganization } from '../../database/org-lock.ts'
import { nextHour } from '../../features/alerts/digest-model.ts'
import { type Definitions, putRule } from '../../features/alerts/rule-queries.ts'
import { putEffects } from '../../features/effects/effect-queries.ts'
import { addEffect } from '../../features/effects/recorded-changes.ts'
import { EXAMPLE_IDS } from '../../http/openapi/examples.ts'
import { EVENTS, eventBody } from '../../webhooks/outbox/catalogue.ts'
import { insertTest } from '../../webhooks/outbox/insert-test.ts'
import { settle } from '../../webhooks/outbox/settle.ts'
import { demoChanges } from './demo-team.ts'

const { alert_id, digest_id } = EXAMPLE_IDS
const TESTS = [
  { source: alert_id, id: EXAMPLE_IDS.delivery_id, event: 'alert.fired' },
  { source: digest_id, id: EXAMPLE_IDS['digests/delivery_id'], event: 'digest.ready' },
] as const
type Tested = (typeof TESTS)[number]['event'] | 'security.alert'
/** The cost of a day is below it. */
const DAILY_LIMIT_USD = 100
/** Drawn days on both sides of today. */
const DRAWN_DAYS = 14
const RECEIVED = { ok: true, refused: false, postponed: false, statusCode: 200, error: null }
const FAILED = { ...RECEIVED, ok: false, statusCode: 503, error: 'status: answered 503' }
const FAILURES = ['dlv_demofails1', 'dlv_demofails2', 'dlv_demofails3']

/** Adds them to an organization with these endpoints. */
export async function addDemoRules(
  sql: Sql,
  orgId: string,
  { endpoint, failing }: Record<'endpoint' | 'failing', string>,
  now: Date,
  timeoutMs: number,
  actor: Actor,
): Promise<void> {
  const destinations = [{ type: 'webhook' as const }]
  const time = { weekday: 'monday', hour: 8 } as const
  const shared = { enabled: true, states: {} }
  await inOrganization(sql, orgId, async (tx) => {
    const alert: Definitions['alert'] = {
      ...{ name: 'Cost of a day', metric: 'cost', window: 'day', above: DAILY_LIMIT_USD },
      ...{ scope: {}, each: null, no_data: 'ok', renotify_minutes: null, destinations },
    }
    await putRule(tx, orgId, { ...shared, id: alert_id, kind: 'alert', definition: alert, due_at: now })
    const digest = { name: 'Week of the platform team', ...time, destinations }
    const due_at = nextHour(time, now, UTC)
    await putRule(tx, orgId, { ...shared, id: digest_id, kind: 'digest', definition: digest, due_at })
    const drawn = {
      name: 'A plan before the code',
      kind: 'assigned',
      source: 'assigned',
      unit: 'member',
    } as const
    const days = { from_day: addDays(dateOf(now), -DRAWN_DAYS), to_day: addDays(dateOf(now), DRAWN_DAYS) }
    await putEffects(tx, orgId, [
      {
        ...{ id: EXAMPLE_IDS.effect_id, ...drawn, ...days, dismissed: false },
        ...{ members: null, projects: null, team: 'payments' },
      },
    ])
    for (const change of demoChanges(now)) await addEffect(tx, orgId, actor, change, dateOf(now))
    const testOf = async (event: Tested, to: string, test: { id: string; source?: string }) => {
      const data = { ...EVENTS[event].example, test: true as const }
      const message = { event, bodyOf: (id: string) => eventBody(id, event, now, data), at: now, timeoutMs }
      await insertTest(tx, orgId, to, { ...test, ...message })
    }
    for (const { event, ...test } of TESTS) await testOf(event, endpoint, test)
    for (const id of FAILURES) await testOf('security.alert', failing, { id })
  })
  const outcomesOf = (endpointId: string, ids: readonly string[], result: typeof RECEIVED | typeof FAILED) =>
    ids.map((deliveryId) => ({
      ...{ deliveryId, endpointId, attempt: 1 },
      result: { ...result, startedAt: now, durationMs: 12, responseBody: '' },
    }))
  const quiet = { warn: () => {} }
  await settle(
    sql,
    orgId,
    outcomesOf(
      endpoint,
      TESTS.map(({ id }) => id),
      RECEIVED,
    ),
    [],
    quiet,
  )
  await settle(sql, orgId, outcomesOf(failing, FAILURES, FAILED), [], quiet)
}
