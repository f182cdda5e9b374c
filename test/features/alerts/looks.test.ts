import { afterAll, describe, expect, test } from 'bun:test'
import { digestMessage, slackBody } from '../../../src/features/alerts/message.ts'
import { send } from '../../../src/features/alerts/notice.ts'
import { claimRules, settleRules } from '../../../src/features/alerts/rule-queries.ts'
import { makeAttempt } from '../../../src/webhooks/attempt.ts'
import { createEgress } from '../../../src/webhooks/http/egress.ts'
import { resolveByDns } from '../../../src/webhooks/http/resolve.ts'
import { createSender } from '../../../src/webhooks/http/sender.ts'
import { EVENTS } from '../../../src/webhooks/outbox/catalogue.ts'
import { claim, findDueOrganizations } from '../../../src/webhooks/outbox/claim.ts'
import { testSecrets } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { receiver } from '../../support/webhook-api.ts'
import { LIMITS } from '../../support/webhook-rows.ts'
import { linesOf, problemsOf } from './shapes.ts'
import { startWorld } from './world.ts'

// Looks at alerts and digests: once whoever looks, only where something changed, and as people read it.

const database = await testsDatabase()

const start = '2026-11-11T10:00:00Z'
const world = (over: { plan?: 'cloud_pro' } = {}) => startWorld(database, { start, ...over })
const daily = { name: 'Day', metric: 'cost', window: 'day', above: 100 }

describe('a change of state is told once', () => {
  test('by instances that look at the same time', async () => {
    const { add, work, look, told } = await world()
    const id = await add('alerts', { ...daily, each: 'project' })
    const pools = [1, 2, 3].map(() => database.pool(2))
    for (let round = 0; round < 8; round += 1) {
      await work([{ project: `p${round}`, cost: 150 }])
      await Promise.all(pools.map((sql) => look(`2026-11-11T10:0${round}:30Z`, { sql })))
    }
    expect((await told(id)).map(({ body }) => body.data.key)).toEqual(
      Array.from({ length: 8 }, (_, round) => `p${round}`),
    )
    await Promise.all(pools.map((sql) => sql.end()))
  })

  test('after one that was killed between its claim and its commit', async () => {
    const { add, work, look, told, orgId } = await world()
    const id = await add('alerts', daily)
    await work([{ cost: 150 }])
    const claimed = Promise.withResolvers<number>()
    const killed = Promise.withResolvers<void>()
    const now = new Date('2026-11-11T10:01:00Z')
    const pool = database.pool(1)
    const killedLook = pool.begin(async (tx) => {
      for (const rule of await claimRules(tx, orgId, now)) {
        const state = { state: 'firing', since: 0, value: 150, told: 0 } as const
        await send(tx, orgId, rule, { events: [], message: { title: '', lines: [], url: undefined } }, now)
        await settleRules(tx, orgId, [{ ...rule, states: { '': state } }], now)
      }
      const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`
      claimed.resolve(row?.pid ?? 0)
      await killed.promise
    })
    const pid = await claimed.promise
    // the rule is the other one's: this one leaves it
    await look('2026-11-11T10:01:10Z')
    expect(await told(id)).toEqual([])
    const ended = killedLook.then(
      () => 'committed',
      () => 'rolled back',
    )
    await database.sql`select pg_terminate_backend(${pid}::integer)`
    killed.resolve()
    expect(await ended).toBe('rolled back')
    for (const second of [20, 40]) await look(`2026-11-11T10:01:${second}Z`)
    expect((await told(id)).map(({ event }) => event)).toEqual(['alert.fired'])
    await pool.end()
  })

  test('a digest too, and an hour that was missed within twelve', async () => {
    const { add, look, told, ask } = await world()
    const id = await add('digests', { name: 'Week', weekday: 'wednesday', hour: 12 })
    await look('2026-11-11T11:59:59Z')
    expect(await told(id)).toEqual([])
    const pools = [1, 2, 3].map(() => database.pool(2))
    await Promise.all(pools.map((sql) => look('2026-11-11T12:00:01Z', { sql })))
    expect(await told(id)).toHaveLength(1)
    expect((await ask('GET', `/v1/digests/${id}`)).body.last_sent_at).toBe('2026-11-11T12:00:01.000Z')
    await look('2026-11-18T23:59:00Z')
    expect((await told(id)).map(({ body }) => body.data.to)).toEqual(['2026-11-10', '2026-11-17'])
    // nobody looked for more than twelve hours
    await look('2026-11-26T00:00:01Z')
    expect(await told(id)).toHaveLength(2)
    await look('2026-12-02T12:00:00Z')
    expect(await told(id)).toHaveLength(3)
    // another name does not send it again, another hour does not send what has passed
    await ask('PATCH', `/v1/digests/${id}`, { name: 'W', hour: 11 })
    await look('2026-12-02T12:05:00Z')
    expect(await told(id)).toHaveLength(3)
    await Promise.all(pools.map((sql) => sql.end()))
  })
})

test('is looked at again when the data, the day or the alert change, or when it is told again, and else not', async () => {
  const { add, work, look, told, ask, orgId } = await world()
  const id = await add('alerts', { ...daily, renotify_minutes: 60 })
  const lookedAt = async () => {
    const [row] =
      await database.sql`select r.looked_at from notification_rules r where r.org_id = ${orgId} and r.id = ${id}`
    return (row?.looked_at as Date | null)?.toISOString().slice(5, 19)
  }
  const { since } = (await ask('GET', `/v1/alerts/${id}`)).body
  await look('2026-11-11T10:01:00Z')
  expect((await ask('GET', `/v1/alerts/${id}`)).body).toMatchObject({ since, last_value: 0 } as object)
  await look('2026-11-11T10:02:00Z')
  expect(await lookedAt()).toBe('11-11T10:01:00')
  await work([{ cost: 101 }])
  await look('2026-11-11T10:03:00Z')
  await look('2026-11-11T11:02:59Z')
  expect([await lookedAt(), (await told(id)).length]).toEqual(['11-11T10:03:00', 1])
  await look('2026-11-11T11:03:00Z')
  expect((await told(id)).map(({ body }) => body.data.state)).toEqual(['firing', 'firing'])
  expect((await ask('GET', `/v1/alerts/${id}`)).body).toMatchObject({
    ...{ state: 'firing', since: '2026-11-11T10:03:00.000Z', last_value: 101 },
  })
  await ask('PATCH', `/v1/alerts/${id}`, { above: 101 })
  await look('2026-11-11T11:04:00Z')
  expect((await told(id)).at(-1)?.event).toBe('alert.resolved')
  await ask('PATCH', `/v1/alerts/${id}`, { enabled: false, above: 1 })
  await look('2026-11-12T00:00:00Z')
  expect(await lookedAt()).toBe('11-11T11:04:00')
  await ask('PATCH', `/v1/alerts/${id}`, { enabled: true })
  await look('2026-11-12T00:01:00Z')
  expect((await told(id)).map(({ event }) => event)).toEqual(['alert.fired', 'alert.fired', 'alert.resolved'])
})

test('an alert of failing endpoints is looked at when deliveries end', async () => {
  const { add, look, told, orgId } = await world()
  const id = await add('alerts', { name: 'Hooks', metric: 'failing_endpoints', window: 'day', above: 0 })
  const now = new Date()
  const at = (minutes: number) => new Date(now.getTime() + minutes * 60_000).toISOString()
  await look(at(0))
  const { addDeliveries, result, settleAll } = await import('../../support/webhook-rows.ts')
  const [endpoint] = await database.sql`select e.id from webhook_endpoints e where e.org_id = ${orgId}`
  await addDeliveries(database.sql, orgId, endpoint?.id, 3)
  await settleAll(database.sql, orgId, await claim(database.sql, orgId, LIMITS), result())
  await look(at(0.5))
  expect((await told(id)).map(({ body }) => [body.data.value, body.data.top])).toEqual([[1, []]])
})

test('an alert of a renamed project goes on by its new name', async () => {
  const { add, work, look, told, orgId, ask } = await world()
  const id = await add('alerts', { ...daily, scope: { project: 'shop', agent: 'codex' } })
  await work([{ cost: 150, source: 'codex' }])
  const { renameProject } = await import('../../../src/server/sync/project-write.ts')
  const { SYSTEM } = await import('../../../src/accounts/audit-log/append.ts')
  await renameProject(database.sql, orgId, SYSTEM, { from: 'shop', to: 'store' })
  expect((await ask('GET', `/v1/alerts/${id}`)).body.scope).toEqual({ project: 'store', agent: 'codex' })
  await look('2026-11-11T10:01:00Z')
  expect((await told(id)).map(({ event }) => event)).toEqual(['alert.fired'])
})

describe('Slack and Teams', () => {
  test('get what Slack takes, also of long names of which each character is escaped', () => {
    const parts = Array.from({ length: 3 }, () => ({ key: '&'.repeat(200), cost: 1 }))
    const data = { ...EVENTS['digest.ready'].example, by_model: parts, by_project: parts }
    const body = slackBody(digestMessage('&'.repeat(200), data, null, 'https://analytics.example.com'))
    expect(problemsOf('slack', body)).toEqual([])
    const models = linesOf('slack', body).find((line) => line.includes('Models')) ?? ''
    // cut between two marks, as long as it may be
    expect(models.length).toBeGreaterThan(2_990)
    expect(models.replace(/^.*\* /, '')).toMatch(/^(&amp;|[ $.,0-9])*…$/)
  })

  const egress = createEgress({ allowCidrs: ['127.0.0.0/8'], allowHttp: true, ownAddresses: [] })
  const sender = createSender({ egress, resolve: resolveByDns, timeoutMs: 5_000 })
  afterAll(() => sender.close())

  test('get one message of an alert and a look, of 20 keys and how many more, on every plan', async () => {
    const { add, work, look, told, orgId } = await world({ plan: 'cloud_pro' })
    const [slack, teams] = [receiver(), receiver()]
    const destinations = [
      { type: 'slack', url: slack.url },
      { type: 'teams', url: teams.url },
      { type: 'webhook' },
    ]
    const id = await add('alerts', { ...daily, name: 'A <day> *of* [all](x)', each: 'project', destinations })
    await work(
      Array.from({ length: 25 }, (_, n) => ({
        project: n === 0 ? '<!here> & co' : `p${n}`,
        cost: 150 + n,
        user_email: 'ada@example.com',
      })),
    )
    await look('2026-11-11T10:01:00Z')
    expect(await told(id)).toHaveLength(2)
    expect(await findDueOrganizations(database.sql)).toContain(orgId)
    for (const delivery of await claim(database.sql, orgId, LIMITS))
      expect(await makeAttempt({ box: testSecrets, sender, prefix: 'X' }, orgId, delivery)).toMatchObject({
        ok: true,
      })
    for (const [kind, { got, stop }] of Object.entries({ slack, teams }) as ['slack', typeof slack][]) {
      expect(got).toHaveLength(1)
      const { body, headers } = got[0] ?? { body: '', headers: {} }
      expect(problemsOf(kind, body)).toEqual([])
      expect(Object.keys(headers).filter((name) => /^(x-|webhook-)/.test(name))).toEqual([])
      const lines = linesOf(kind, body)
      expect(lines).toHaveLength(kind === 'slack' ? 23 : 22)
      expect(lines[0]).toBe('Alert: A <day> *of* [all](x)')
      expect(
        lines.filter((line) => line.includes('this day, above $100.00; most of it: ada@example.com')),
      ).toHaveLength(20)
      expect(lines[21]).toContain('and 5 more')
      if (kind === 'slack') expect(body).not.toContain('<!here>')
      await stop()
    }
  })

  test('get a digest of seven lines with links', async () => {
    const { add, work, look, told, ask } = await world()
    await ask('PUT', '/v1/budgets/2026-11', { limit: 2_500 })
    const destinations = ['slack', 'teams'].map((type) => ({ type, url: 'https://hooks.example.com/abcd' }))
    const id = await add('digests', { name: 'Platform', weekday: 'thursday', hour: 0, destinations })
    await work([
      ...[
        { cost: 300, model: 'sonnet', quality_score: 80 },
        { project: 'web', cost: 112.5, model: 'opus', quality_score: 70 },
      ],
      { cost: 206.25, created_at: '2026-11-01T00:00:00Z', model: 'sonnet', quality_score: 72.5 },
    ])
    await look('2026-11-12T00:00:20Z')
    const messages = await told(id)
    expect(messages.map(({ event }) => event)).toEqual(['digest.ready', 'digest.ready'])
    for (const { text } of messages) {
      const kind = text.includes('"blocks"') ? 'slack' : 'teams'
      expect(problemsOf(kind, text)).toEqual([])
      const lines = linesOf(kind, text)
      expect(lines.slice(0, 1)).toEqual(['Platform: 2026-11-05 to 2026-11-11'])
      const plain = lines.slice(1, 8).map((line) => line.replace(/^\*<[^|]*\|(.*?)>\* /, '$1 '))
      expect(plain).toEqual([
        'Cost $412.50, 100% more than the week before',
        'Models sonnet $300.00, opus $112.50',
        'Projects shop $300.00, web $112.50',
        // $618.75 in eleven days, and nothing yet on the twelfth
        'Budget $1,687.50 expected this month, of $2,500.00',
        'Pull requests 0 merged; $0.00 for the week’s pull requests, also in the weeks before',
        'Quality 75 on average, 2.50 points more than the week before',
        'Findings 0 new',
      ])
      expect(text).toContain('https://analytics.example.com/#/cost?from=2026-11-05')
    }
  })
})

test('the data of a digest', async () => {
  const { add, work, look, told, ask } = await world()
  const id = await add('digests', { name: 'Week', weekday: 'thursday', hour: 0 })
  const finding = (fingerprint: string) => ({ severity: 'high', title: 't', file: 'a.ts', fingerprint })
  const found = (...fingerprints: string[]) => ({
    security_metadata: { findings: fingerprints.map(finding) },
  })
  await work([
    { cost: 1.5, quality_score: 70, model: 'm', ...found('old', 'new'), created_at: '2026-11-05T00:00:00Z' },
    { cost: 2.25, quality_score: 90, model: 'n', project: 'web', created_at: '2026-11-11T23:59:59Z' },
    { cost: 4, created_at: '2026-11-04T23:59:59Z', ...found('old') },
    { cost: 8, created_at: '2026-10-29T00:00:00Z' },
    { cost: 16, created_at: '2026-11-12T00:00:00Z' },
  ])
  const sent = await ask('POST', '/v1/sync', {
    records: [
      {
        ...{ type: 'session', id: 'sess_linked', project_name: 'shop', estimated_cost: 0.25, model: 'm' },
        ...{ created_at: '2026-11-06T00:00:00Z', quality_score: 80 },
        pull_requests: [{ repo: 'a/shop', number: 1 }],
      },
      {
        ...{ type: 'pr_risk', pr_number: 1, repo: 'a/shop', pr_title: 'T', state: 'merged', project: 'shop' },
        ...{ created_at: '2026-11-05T00:00:00Z', merged_at: '2026-11-07T00:00:00Z' },
        ...{ author_email: 'x@example.com', files_changed: 0, files: [] },
      },
    ],
  })
  expect([sent.status, sent.text.includes('error') ? sent.text : '']).toEqual([200, ''])
  await look('2026-11-12T00:00:20Z')
  const [{ body } = { body: {} }] = await told(id)
  expect(body.data).toEqual({
    ...{ digest_id: id, from: '2026-11-05', to: '2026-11-11', cost: 4, previous_cost: 12 },
    by_model: [
      { key: 'n', cost: 2.25 },
      { key: 'm', cost: 1.75 },
    ],
    by_project: [
      { key: 'web', cost: 2.25 },
      { key: 'shop', cost: 1.75 },
    ],
    ...{ budget: null, pull_requests: { merged: 1, cost: 0.25 }, average_quality: 80, new_findings: 1 },
    effects: [],
  })
})
