import { describe, expect, test } from 'bun:test'
import Ajv from 'ajv'
import addFormats from 'ajv-formats'
import { connect } from '../../src/database/client.ts'
import {
  Envelope,
  EVENT_NAMES,
  EVENTS,
  isEventName,
  TEST_EVENT,
} from '../../src/webhooks/outbox/catalogue.ts'
import { CHANNEL, emit, type NewEvent } from '../../src/webhooks/outbox/events.ts'
import { client, jsonPost, newOrg, type Org, testApp } from '../support/api.ts'
import { testsDatabase } from '../support/postgres.ts'
import { memberRecord, sessionRecord } from '../support/records.ts'
import { asOrganization } from '../support/rls.ts'
import { citusUrls } from '../support/scaling/citus.ts'
import { expectCounts } from '../support/webhook-rows.ts'

// Each change makes its event. Requests go through the API; what they leave is read from the tables.

const NOW = new Date('2026-11-21T12:00:00.000Z')

const database = await testsDatabase()

const app = testApp(database.sql, { now: () => NOW })

let made = 0

interface Listening {
  events?: string[]
  enabled?: boolean
}

/** An endpoint; its id. */
async function listen(orgId: string, { events = ['*'], enabled = true }: Listening = {}): Promise<string> {
  made += 1
  const id = `hook_${String(made).padStart(4, '0')}`
  await database.sql`
    insert into webhook_endpoints (org_id, id, url, events, enabled, secret, secret_hint, created_at, updated_at)
    values (${orgId}, ${id}, 'https://example.com/', ${events}, ${enabled}, '', 'hint', now(), now())`
  return id
}

/** An organization with one endpoint for `events`. */
async function listener(events = ['*']): Promise<Org> {
  const org = await newOrg(database.sql)
  await listen(org.orgId, { events })
  return org
}

const post = (org: Org, records: readonly unknown[], to = app) =>
  client(to, org.key)('/v1/sync', jsonPost({ records }))

async function sync(org: Org, ...records: unknown[]): Promise<void> {
  const answer = await post(org, records)
  expect([answer.status, answer.ok ? '' : await answer.text()]).toEqual([200, ''])
}

const ajv = addFormats(new Ajv({ strict: true }))
const envelope = ajv.compile(Envelope)
const dataOf = new Map(EVENT_NAMES.map((name) => [name, ajv.compile(EVENTS[name].data)]))

/** The organization's events in their order, each a valid body. */
async function events(orgId: string): Promise<{ event: string; data: unknown }[]> {
  const rows = await database.sql<{ id: string; event: string; body: string }[]>`
    select v.id, v.event, v.body
    from webhook_events v
    where v.org_id = ${orgId}
    order by v.created_at, v.id`
  return rows.map(({ id, event, body }) => {
    const parsed = JSON.parse(body)
    const { data } = parsed
    expect(body).toBe(
      JSON.stringify({ id, event, type: event, timestamp: NOW.toISOString(), api_version: 'v1', data }),
    )
    expect([envelope(parsed), envelope.errors]).toEqual([true, null])
    const valid = isEventName(event) ? dataOf.get(event) : undefined
    expect([valid?.(data), valid?.errors]).toEqual([true, null])
    return { event, data }
  })
}

/** Names of the events only. */
const names = async (orgId: string) => (await events(orgId)).map(({ event }) => event)

const usual = {
  project_name: 'web',
  created_at: '2026-11-03T10:00:00Z',
  estimated_cost: 1.5,
  quality_score: 80,
}
const session = (id: string, fields: Record<string, unknown> = {}) =>
  sessionRecord(`sess_${id}`, { ...usual, ...fields })
const finding = (fingerprint: string, severity: string, fields: Record<string, unknown> = {}) => ({
  id: `finding_${fingerprint}`,
  title: `title of ${fingerprint}`,
  severity,
  fingerprint,
  ...fields,
})
const withFindings = (...findings: unknown[]) => ({ security_metadata: { findings } })
const member = (fields: Record<string, unknown> = {}) =>
  memberRecord('ada', { email: 'Ada@example.com', ...fields })
const budget = (month: string, limit: number) => ({ type: 'budget', month, limit })
const report = (fields: Record<string, unknown> = {}) => ({
  type: 'report',
  id: 'report_q3',
  report_type: 'soc2',
  from: '2026-07-01',
  to: '2026-09-30',
  ...fields,
})

test('the catalogue has the nine events, and each example is as its schema says', () => {
  expect(EVENT_NAMES).toEqual([
    'session.completed',
    'quality.score_changed',
    'security.alert',
    'cost.budget_exceeded',
    'team.member_joined',
    'compliance.report_ready',
    'alert.fired',
    'alert.resolved',
    'digest.ready',
  ])
  for (const name of EVENT_NAMES) {
    const { data, example } = EVENTS[name]
    expect([name, ajv.validate(data, example)]).toEqual([name, true])
    expect(Object.keys(example).sort()).toEqual([...(data.required ?? [])].sort())
  }
  expect(ajv.validate(TEST_EVENT.data, TEST_EVENT.example)).toBe(true)
  expect(isEventName(TEST_EVENT.name)).toBe(false)
  expect(isEventName('toString')).toBe(false)
})

describe('what makes an event', () => {
  test('one request with all of it, in order; the same again sends nothing', async () => {
    const org = await listener()
    const records = [
      report(),
      session('a', { quality_score: 81.255, estimated_cost: 2, ...withFindings(finding('key', 'critical')) }),
      session('b'),
      budget('2026-11', 3),
      member(),
    ]
    await sync(org, ...records)
    const { current_budget } = (await (await client(app, org.key)('/v1/cost')).json()) as {
      current_budget: { id: string }
    }
    const expected = [
      {
        event: 'team.member_joined',
        data: { user_id: 'user_ada', email: 'ada@example.com', role: 'developer' },
      },
      {
        event: 'session.completed',
        data: { session_id: 'sess_a', project_name: 'web', quality_score: 81.26 },
      },
      { event: 'session.completed', data: { session_id: 'sess_b', project_name: 'web', quality_score: 80 } },
      {
        event: 'security.alert',
        data: { alert_id: 'finding_key', severity: 'critical', title: 'title of key' },
      },
      {
        event: 'cost.budget_exceeded',
        data: { budget_id: current_budget.id, current_cost: 3.5, limit: 3 },
      },
      {
        event: 'compliance.report_ready',
        data: {
          report_id: 'report_q3',
          report_type: 'soc2',
          date_range: { from: '2026-07-01', to: '2026-09-30' },
        },
      },
    ]
    expect(await events(org.orgId)).toEqual(expected)
    await sync(org, ...records)
    expect(await events(org.orgId)).toEqual(expected)
  })

  test('a session twice in a request is completed once, as the later record says', async () => {
    const org = await listener()
    await sync(org, session('a', { quality_score: 10 }), session('a', { quality_score: 20 }))
    expect(await events(org.orgId)).toEqual([
      { event: 'session.completed', data: { session_id: 'sess_a', project_name: 'web', quality_score: 20 } },
    ])
  })

  test('a score that changes its stored value', async () => {
    const org = await listener(['quality.score_changed'])
    await sync(org, session('a'), session('b'))
    await sync(org, session('a', { turns: 9 }), session('b', { quality_score: 80.004 }))
    expect(await events(org.orgId)).toEqual([])
    await sync(org, session('a', { quality_score: 72.255 }))
    await sync(org, session('a', { quality_score: 0 }))
    expect(await events(org.orgId)).toEqual([
      {
        event: 'quality.score_changed',
        data: { session_id: 'sess_a', old_score: 80, new_score: 72.26 },
      },
      { event: 'quality.score_changed', data: { session_id: 'sess_a', old_score: 72.26, new_score: 0 } },
    ])
  })

  test('new findings of high and critical, each fingerprint of a session once at its gravest', async () => {
    const org = await listener(['security.alert'])
    await sync(
      org,
      session(
        'a',
        withFindings(
          finding('one', 'high', { id: 'finding_mild' }),
          finding('one', 'critical', { id: 'finding_grave', line: 2 }),
          finding('one', 'critical', { id: 'finding_later', line: 3 }),
          finding('two', 'medium'),
          finding('three', 'low'),
          { id: 'finding_untitled', severity: 'high', rule_id: 'rule-7', fingerprint: 'four' },
        ),
      ),
      session('b', withFindings(finding('one', 'high', { id: 'finding_b' }))),
    )
    expect((await events(org.orgId)).map(({ data }) => data)).toEqual([
      { alert_id: 'finding_grave', severity: 'critical', title: 'title of one' },
      { alert_id: 'finding_untitled', severity: 'high', title: 'rule-7' },
      { alert_id: 'finding_b', severity: 'high', title: 'title of one' },
    ])
  })

  test('an updated session alerts only of fingerprints that were no alert before', async () => {
    const org = await listener(['security.alert'])
    await sync(org, session('a', withFindings(finding('one', 'high'), finding('two', 'low'))))
    await sync(org, session('plain'))
    await sync(
      org,
      session(
        'a',
        withFindings(finding('one', 'critical'), finding('two', 'high'), finding('three', 'high')),
      ),
      session('plain', withFindings(finding('four', 'critical'))),
    )
    expect((await events(org.orgId)).map(({ data }) => data)).toEqual([
      { alert_id: 'finding_one', severity: 'high', title: 'title of one' },
      { alert_id: 'finding_two', severity: 'high', title: 'title of two' },
      { alert_id: 'finding_three', severity: 'high', title: 'title of three' },
      { alert_id: 'finding_four', severity: 'critical', title: 'title of four' },
    ])
  })

  test('a member who is new, not one who changes', async () => {
    const org = await listener()
    await sync(org, member(), member({ email: 'ada@EXAMPLE.com', role: 'developer' }))
    await sync(org, member({ role: 'auditor' }))
    expect(await events(org.orgId)).toEqual([
      {
        event: 'team.member_joined',
        data: { user_id: 'user_ada', email: 'ada@example.com', role: 'developer' },
      },
    ])
  })

  test('a report that is made, and made anew; twice in a request is once', async () => {
    const org = await listener()
    await sync(org, report({ report_type: 'audit' }), report())
    await sync(org, report({ to: '2026-08-31' }))
    expect((await events(org.orgId)).map(({ data }) => data)).toEqual([
      {
        report_id: 'report_q3',
        report_type: 'soc2',
        date_range: { from: '2026-07-01', to: '2026-09-30' },
      },
      {
        report_id: 'report_q3',
        report_type: 'soc2',
        date_range: { from: '2026-07-01', to: '2026-08-31' },
      },
    ])
  })
})

describe('a budget that is exceeded', () => {
  const exceeded = async (org: Org) => (await events(org.orgId)).map(({ data }) => data)
  const amounts = (current_cost: number, limit: number) => expect.objectContaining({ current_cost, limit })

  test('by more than its limit, by exact decimals, once a month and limit', async () => {
    const org = await listener(['cost.budget_exceeded'])
    await sync(org, budget('2026-11', 0.3))
    await sync(org, session('a', { estimated_cost: 0.1 }), session('b', { estimated_cost: 0.2 }))
    expect(await exceeded(org)).toEqual([])
    await sync(org, session('c', { estimated_cost: 0.000001 }))
    expect(await exceeded(org)).toEqual([amounts(0.300001, 0.3)])
    await sync(org, session('d', { estimated_cost: 9 }))
    await sync(org, budget('2026-11', 20))
    expect(await exceeded(org)).toEqual([amounts(0.300001, 0.3)])
    await sync(org, session('e', { estimated_cost: 90 }))
    await sync(org, session('f', { estimated_cost: 1 }))
    expect(await exceeded(org)).toEqual([amounts(0.300001, 0.3), amounts(99.300001, 20)])
  })

  test('not a month that an older server told of, which stored no limit', async () => {
    const org = await listener(['cost.budget_exceeded'])
    await sync(org, budget('2026-11', 1))
    await database.sql`
      insert into budget_alerts (org_id, scope, scope_key, month)
      values (${org.orgId}, 'organization', '', '2026-11-01')`
    await sync(org, session('a', { estimated_cost: 2 }))
    expect(await exceeded(org)).toEqual([])
    await sync(org, budget('2026-11', 1.5))
    expect(await exceeded(org)).toEqual([amounts(2, 1.5)])
  })

  test('by a limit that is lowered, in the current month only', async () => {
    const org = await listener(['cost.budget_exceeded'])
    await sync(org, budget('2026-10', 6), session('now', { estimated_cost: 5 }))
    await sync(org, session('past', { estimated_cost: 5, created_at: '2026-10-31T23:59:59Z' }))
    expect(await exceeded(org)).toEqual([])
    await sync(org, budget('2026-11', 5))
    expect(await exceeded(org)).toEqual([])
    await sync(org, budget('2026-10', 4))
    expect(await exceeded(org)).toEqual([])
    await sync(org, budget('2026-11', 4.5))
    expect(await exceeded(org)).toEqual([amounts(5, 4.5)])
  })

  test('in each month that the sessions of a request touch, by the record in force in it', async () => {
    const org = await listener(['cost.budget_exceeded'])
    await sync(org, budget('2026-08', 2), budget('2026-10', 4))
    const cost = (id: string, day: string, estimated_cost: number) =>
      session(id, { created_at: `${day}T00:00:00Z`, estimated_cost })
    await sync(
      org,
      cost('dec', '2026-12-01', 4.5),
      cost('jul', '2026-07-31', 50),
      cost('aug', '2026-08-01', 2.5),
      cost('sep', '2026-09-30', 3),
      cost('oct', '2026-10-01', 4),
    )
    const told = await exceeded(org)
    expect(told).toEqual([amounts(2.5, 2), amounts(3, 2), amounts(4.5, 4)])
    const [august, september, december] = told as { budget_id: string }[]
    expect(august?.budget_id).toBe(september?.budget_id)
    expect(december?.budget_id).not.toBe(september?.budget_id)
  })

  test('by a session whose cost grows', async () => {
    const org = await listener(['cost.budget_exceeded'])
    await sync(org, budget('2026-11', 2), session('a'))
    expect(await exceeded(org)).toEqual([])
    await sync(org, session('a', { estimated_cost: 2.25 }))
    expect(await exceeded(org)).toEqual([amounts(2.25, 2)])
  })

  test('by two requests at once: told once', async () => {
    const org = await listener(['cost.budget_exceeded'])
    await sync(org, budget('2026-11', 1))
    // two servers: their requests wait for each other only in the database
    const servers = [app, testApp(database.sql, { now: () => NOW })]
    const answers = await Promise.all(servers.map((server, n) => post(org, [session(`s${n}`)], server)))
    expect(answers.map(({ status }) => status)).toEqual([200, 200])
    expect(await exceeded(org)).toEqual([amounts(1.5, 1)])
  })

  test('while nobody listened: not told afterwards', async () => {
    const org = await newOrg(database.sql)
    await sync(org, budget('2026-11', 1), session('a'))
    await listen(org.orgId)
    await sync(org, session('b'))
    expect(await names(org.orgId)).toEqual(['session.completed'])
  })
})

describe('deliveries', () => {
  const deliveries = async (orgId: string) => [
    ...(await database.sql`
      select d.endpoint_id, v.event, d.event as same, d.status, q.mode, q.attempts, q.failures, q.lost, q.leased
      from webhook_deliveries d
      join webhook_queue q on q.org_id = d.org_id and q.delivery_id = d.id
      join webhook_events v on v.org_id = d.org_id and v.id = d.event_id
      where d.org_id = ${orgId}
        and q.due_at = d.created_at
        and d.created_at = v.created_at
      order by d.created_at, d.id`),
  ]
  const waiting = (endpoint_id: string, event: string) => ({
    ...{ endpoint_id, event, same: event, status: 'pending', mode: 'scheduled' },
    ...{ attempts: 0, failures: 0, lost: 0, leased: false },
  })

  test('one for each endpoint that subscribes, by the order of the events', async () => {
    const org = await newOrg(database.sql)
    const all = await listen(org.orgId)
    const two = await listen(org.orgId, { events: ['team.member_joined', 'security.alert'] })
    await listen(org.orgId, { events: ['cost.budget_exceeded'] })
    await listen(org.orgId, { enabled: false })
    await sync(org, session('a'), member())
    expect(await deliveries(org.orgId)).toEqual([
      waiting(all, 'team.member_joined'),
      waiting(two, 'team.member_joined'),
      waiting(all, 'session.completed'),
    ])
    expect(await expectCounts(database.sql, org.orgId)).toHaveLength(3)
  })

  test.each([
    ['only a disabled endpoint', 'cloud_team', [{ enabled: false }]],
    ['only an endpoint for other events', 'cloud_team', [{ events: ['compliance.report_ready'] }]],
    ['no endpoint', 'cloud_team', []],
    ['a plan without webhooks', 'cloud_pro', [{}]],
  ] as const)('%s: nothing is stored', async (_name, plan, endpoints) => {
    const org = await newOrg(database.sql, { plan })
    for (const endpoint of endpoints as readonly Listening[]) await listen(org.orgId, endpoint)
    await sync(org, session('a', withFindings(finding('one', 'high'))), member(), budget('2026-11', 1))
    await sync(org, session('a', { quality_score: 1, ...withFindings(finding('two', 'high')) }))
    expect(await events(org.orgId)).toEqual([])
    expect(await deliveries(org.orgId)).toEqual([])
    expect(await expectCounts(database.sql, org.orgId)).toEqual([])
  })

  test('are of the organization that caused them', async () => {
    const [one, other] = [await listener(), await listener()]
    await sync(one, session('a'))
    expect(await deliveries(one.orgId)).toHaveLength(1)
    expect(await deliveries(other.orgId)).toEqual([])
  })

  test('more of them than one statement takes', async () => {
    const org = await listener()
    const last = await listen(org.orgId, { events: ['session.completed'] })
    const many = Array.from(
      { length: 10_001 },
      (_, n): NewEvent => ({
        event: 'session.completed',
        data: { session_id: `sess_${n}`, project_name: 'web', quality_score: 1 },
      }),
    )
    await asOrganization(org.orgId, () => database.sql.begin((tx) => emit(tx, org.orgId, NOW, many)))
    const [row] = await database.sql`
      select count(*)::integer as all, count(*) filter (where d.endpoint_id = ${last})::integer as of_last
      from webhook_deliveries d
      where d.org_id = ${org.orgId}`
    expect(row).toEqual({ all: 20_002, of_last: 10_001 })
    const stored = (await events(org.orgId)).map(({ data }) => (data as { session_id: string }).session_id)
    expect(stored).toEqual(many.map((_, n) => `sess_${n}`))
    await expectCounts(database.sql, org.orgId)
  })

  test('wake the worker once they are committed, and only then', async () => {
    const [silent, heard] = [await listener(['compliance.report_ready']), await listener()]
    const ears = connect(database.target, { max: 1, applicationName: 'test' })
    const first = Promise.withResolvers<string>()
    await ears.listen(CHANNEL, first.resolve)
    await sync(silent, session('a'))
    await sync(heard, session('a'))
    expect(await first.promise).toBe(heard.orgId)
    await ears.end({ timeout: 1 })
  })
})

describe('a request that fails', () => {
  const everything = [
    session('a', withFindings(finding('one', 'high'))),
    member(),
    budget('2026-11', 1),
    report(),
  ]

  test('for its last record leaves nothing', async () => {
    const org = await listener()
    const answer = await post(org, [...everything, report({ id: 'report_x', from: '2026-10-01' })])
    expect(answer.status).toBe(400)
    expect(await events(org.orgId)).toEqual([])
    await sync(org, ...everything)
    expect(await names(org.orgId)).toHaveLength(5)
  })

  // Citus has no triggers
  test.skipIf(citusUrls.length > 0)(
    'when it commits leaves nothing, and the month is told later',
    async () => {
      const org = await listener()
      await database.sql`
      create function refuse_commit() returns trigger language plpgsql as $$
      begin
        raise exception 'not committed';
      end $$`
      await database.sql`
      create constraint trigger refuse_commit after insert on webhook_deliveries
      deferrable initially deferred
      for each row execute function refuse_commit()`
      const answer = await post(org, everything)
      await database.sql`drop trigger refuse_commit on webhook_deliveries`
      expect(answer.status).toBe(500)
      const [left] = await database.sql`
      select
        (select count(*)::integer from sessions s where s.org_id = ${org.orgId}) as sessions,
        (select count(*)::integer from webhook_events v where v.org_id = ${org.orgId}) as events,
        (select count(*)::integer from webhook_deliveries d where d.org_id = ${org.orgId}) as deliveries,
        (select count(*)::integer from webhook_delivery_counts c where c.org_id = ${org.orgId}) as counts,
        (select count(*)::integer from budget_alerts a where a.org_id = ${org.orgId}) as alerts`
      expect(left).toEqual({ sessions: 0, events: 0, deliveries: 0, counts: 0, alerts: 0 })
      await sync(org, ...everything)
      expect((await names(org.orgId)).sort()).toEqual([
        'compliance.report_ready',
        'cost.budget_exceeded',
        'security.alert',
        'session.completed',
        'team.member_joined',
      ])
    },
  )
})
