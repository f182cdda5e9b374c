import { expect, test } from 'bun:test'
import { createKey } from '../../../src/accounts/keys/queries.ts'
import { asker, newKey } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { memberRecord, sessionRecord } from '../../support/records.ts'
import { webhookApp } from '../../support/webhook-api.ts'
import { startWorld } from '../alerts/world.ts'

const database = await testsDatabase()

const NOW = '2026-11-21T12:00:00Z'

test('has what fires, is exceeded and fails, as far as the caller may see it', async () => {
  const { ask, add, work, look, orgId } = await startWorld(database, { start: NOW })
  const member = (name: string, team: string) =>
    memberRecord(name, { display_name: name.toUpperCase(), team })
  const limit = (amount: number, scope: object, month = '2026-11') => ({
    ...{ type: 'budget', month, limit: amount, ...scope },
  })
  const records = [
    ...[member('ada', 'payments'), member('bob', 'web')],
    ...[limit(15, {}), limit(10, { project: 'shop' }), limit(12, { project: 'docs' })],
    ...[limit(10, { member: 'user_ada' }), limit(3, { member: 'user_bob' }), limit(7, { team: 'payments' })],
    ...[limit(1, { team: 'web' }, '2026-10'), limit(4, { team: 'web' })],
  ]
  await ask('POST', '/v1/sync', { records })
  await work([
    { cost: 8, user_id: 'user_ada' },
    { cost: 4, user_id: 'user_bob' },
  ])
  const id = await add('alerts', { name: 'Dear', metric: 'cost', window: 'day', above: 11 })
  await add('alerts', { name: 'Usual', metric: 'cost', window: 'day', above: 12 })
  await look(NOW)
  const app = webhookApp(database, { now: () => new Date(NOW) })
  const seenBy = async (scopes: string[], person?: string): Promise<unknown> => {
    const given = { name: 'k', scopes, ...(person && { member: `${person}@example.com` }) }
    const { key } = await createKey(database.sql, orgId, given)
    const { status, body } = await asker(app, key)('GET', '/v1/attention')
    const shown = (budgets: { name: string; current_cost: number; limit: number; status: string }[]) =>
      budgets.map(({ name, current_cost, limit, status }) => `${name} ${current_cost} of ${limit} ${status}`)
    if (status !== 200) return status
    const { alerts, budgets, mine, endpoints } = body as never as Record<string, never[]>
    return {
      alerts: alerts?.map(({ id, state, last_value }) => [id, state, last_value]),
      ...{ budgets: shown(budgets ?? []), mine: shown(mine ?? []), endpoints },
    }
  }
  const firing = [[id, 'firing', 12]]
  // 4 of 4 is not above the limit, nor is 8 of 10
  const all = ['BOB 4 of 3 exceeded', 'shop 12 of 10 exceeded', 'payments 8 of 7 exceeded']
  expect(await seenBy(['read', 'webhooks'])).toEqual({
    ...{ alerts: firing, budgets: all, mine: [' 12 of 15 warning'], endpoints: [] },
  })
  const ofAda = [' 12 of 15 warning', 'ADA 8 of 10 warning', 'payments 8 of 7 exceeded']
  expect(await seenBy(['read'], 'ada')).toEqual({ alerts: firing, budgets: all, mine: ofAda, endpoints: [] })
  await ask('PATCH', '/v1/organization', { member_visibility: 'own' })
  expect(await seenBy(['read'], 'ada')).toEqual({
    ...{ alerts: firing, budgets: ['shop 12 of 10 exceeded', 'payments 8 of 7 exceeded'], mine: ofAda },
    endpoints: [],
  })
  await ask('PATCH', '/v1/organization', { hide_members: true })
  // alerts name members
  expect(await seenBy(['cost:read'])).toEqual({
    ...{
      alerts: [],
      budgets: ['shop 12 of 10 exceeded', 'payments 8 of 7 exceeded'],
      mine: [' 12 of 15 warning'],
      endpoints: [],
    },
  })
  expect(await seenBy(['sessions:read'])).toBe(403)
})

test('names the oldest critical findings that are open, models without a price, and machines that are silent', async () => {
  const { ask, orgId } = await startWorld(database, { start: NOW })
  const session = (id: string, created_at: string, more: object = {}) =>
    sessionRecord(`sess_${id}`, { created_at, user_email: 'ada@example.com', ...more })
  const found = (fingerprint: string, status = 'open', severity = 'critical') => ({
    ...{ fingerprint, status, severity, title: `Key ${fingerprint}`, file: 'src/a.ts' },
  })
  const findings = (...all: object[]) => ({ security_metadata: { findings: all } })
  const records = [
    session(
      'one',
      '2026-11-01T10:00:00Z',
      findings(found('one'), found('done', 'fixed'), found('low', 'open', 'low')),
    ),
    session('two', '2026-11-20T10:00:00Z', {
      ...findings(found('two'), found('three'), found('four')),
      ...{ model: 'nobody-prices-this', tokens: { input: 70, output: 30 } },
    }),
  ]
  expect((await ask('POST', '/v1/sync', { records })).status).toBe(200)
  await database.sql`
    insert into machines (org_id, user_key, machine, first_seen_at, last_seen_at, sessions)
    values
      (${orgId}, 'ada@example.com', 'laptop', '2026-11-01', '2026-11-20', 9),
      (${orgId}, 'bob@example.com', 'ci-runner', '2026-11-01', '2026-11-12', 9),
      (${orgId}, 'eve@example.com', 'old', '2026-08-01', '2026-09-12', 9)`
  const app = webhookApp(database, { now: () => new Date(NOW) })
  const seenBy = async (scopes: string[]) => {
    const key = await newKey(database.sql, orgId, scopes)
    const { body } = await asker(app, key)('GET', '/v1/attention')
    const { critical, unpriced, silent_machines } = body as never as {
      critical: { total: number; oldest: { title: string; assignee: null }[] }
      unpriced: object[]
      silent_machines: { machine: string }[]
    }
    return [
      ...[critical.total, critical.oldest.map(({ title }) => title)],
      ...[unpriced, silent_machines.map(({ machine }) => machine)],
    ]
  }
  const unpriced = [{ model: 'nobody-prices-this', tokens: 100 }]
  expect(await seenBy(['read'])).toEqual([4, ['Key one', 'Key two', 'Key three'], unpriced, ['ci-runner']])
  expect(await seenBy(['cost:read'])).toEqual([0, [], unpriced, []])
})
