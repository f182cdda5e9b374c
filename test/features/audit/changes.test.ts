import { describe, expect, test } from 'bun:test'
import { deleteOldAuditEntries } from '../../../src/accounts/audit-log/append.ts'
import { AUDIT_ROLLUP } from '../../../src/accounts/audit-log/rollup.ts'
import { commandLineActor } from '../../../src/cli/command/actor.ts'
import type { AuditEntry, AuditReport } from '../../../src/features/audit/model.ts'
import { entryList } from '../../../src/features/audit/queries.ts'
import { client, jsonPost, newOrg, testApp } from '../../support/api.ts'
import { run as runProgram } from '../../support/cli.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'
import { memberRecord, sessionRecord } from '../../support/records.ts'

// Every change of state by a key or a command leaves its entry in the log, and one that changes nothing leaves none.

const ACTOR = commandLineActor().userId

const database = await testsDatabase()

const app = testApp(database.sql)

/** Runs a command on the test's database; what it printed. */
async function run(args: readonly string[], stdin = ''): Promise<string> {
  const env = { DATA_DIR: '/nonexistent', DATABASE_URL: database.url }
  const { code, stdout, stderr } = await runProgram([...args, '--json'], env, stdin)
  if (code !== 0) throw new Error(`${args.join(' ')}: exit code ${code}: ${stderr}`)
  return stdout
}

async function log(orgId: string): Promise<AuditEntry[]> {
  return JSON.parse(
    (await entryList.list.page(database.sql, orgId, { page: 1, per_page: 100 })).text,
  ).data.reverse()
}

const session = (fields: object = {}) =>
  sessionRecord('sess_1', {
    project_name: 'web',
    created_at: '2026-01-02T00:00:00Z',
    estimated_cost: 1,
    quality_score: 80,
    ...fields,
  })
const member = (fields: object = {}) => memberRecord('ada', fields)

test('every change by a key', async () => {
  const { orgId, key, keyId } = await newOrg(database.sql)
  const ask = client(app, key)
  const cases: [object[], string, object][] = [
    [[session()], 'session.synced', { created: 1, updated: 0, ids: ['sess_1'] }],
    [
      [session({ turns: 2 }), session({ id: 'sess_2' })],
      'session.synced',
      { created: 1, updated: 1, ids: ['sess_2', 'sess_1'] },
    ],
    [[member()], 'member.created', { created: 1, ids: ['user_ada'] }],
    [[member({ role: 'auditor' })], 'member.updated', { updated: 1, ids: ['user_ada'] }],
    [[{ type: 'budget', month: '2026-01', limit: 5 }], 'budget.created', { created: 1 }],
    [[{ type: 'budget', month: '2026-01', limit: 6 }], 'budget.updated', { updated: 1 }],
    [
      [{ type: 'report', id: 'report_1', report_type: 'audit', from: '2026-01-01', to: '2026-01-31' }],
      'report.generated',
      { created: 1, updated: 0, ids: ['report_1'] },
    ],
  ]
  for (const [records, action, details] of cases) {
    const before = await log(orgId)
    const send = () => ask('/v1/sync', jsonPost({ records }))
    expect((await send()).status).toBe(200)
    const after = await log(orgId)
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after.slice(before.length)).toMatchObject([
      { action, user_id: `key_${keyId}`, ip_address: '', details },
    ])
    expect((await send()).status).toBe(200)
    expect(await log(orgId)).toEqual(after)
  }
  // records that are refused, or stored nowhere, leave nothing
  const before = await log(orgId)
  const bad = JSON.stringify({ records: [session({ id: 'sess_3' }), session({ id: '' })] })
  await ask('/v1/sync', { method: 'POST', headers: { 'content-type': 'application/json' }, body: bad })
  expect(await log(orgId)).toEqual(before)
  expect(await findDifferences(database.sql, orgId, [AUDIT_ROLLUP])).toEqual([])
})

test('the address of the client is the one that trusted proxies name', async () => {
  const { orgId, key } = await newOrg(database.sql)
  const ask = client(testApp(database.sql, { config: { trustProxy: 1 } }), key)
  const headers = { 'content-type': 'application/json', 'x-forwarded-for': '10.0.0.1, [2001:db8::12]:443' }
  await ask('/v1/sync', { method: 'POST', headers, body: JSON.stringify({ records: [session()] }) })
  expect((await log(orgId)).at(-1)).toMatchObject({ action: 'session.synced', ip_address: '2001:db8::12' })
})

describe('commands', () => {
  const date = new Date().toISOString().slice(0, 10)

  test('every change by a command, and none twice', async () => {
    const { id: orgId } = JSON.parse(
      await run(['org', 'create', '--slug', 'cmd', '--name', 'Cmd', '--plan', 'cloud_team']),
    )
    expect(await log(orgId)).toMatchObject([
      {
        action: 'organization.created',
        user_id: ACTOR,
        ip_address: '',
        details: { ids: [orgId], slug: 'cmd' },
      },
    ])
    const key = JSON.parse(await run(['key', 'create', '--org', 'cmd', '--name', 'k', '--scopes', 'read']))
    const org = ['--org', 'cmd']
    const ada = ['--email', 'ada@example.com']
    const cases: [string[], string, object][] = [
      [['org', 'update', 'cmd', '--plan', 'cloud_pro'], 'organization.updated', { plan: 'cloud_pro' }],
      [['org', 'update', 'cmd', '--badges', 'public'], 'organization.updated', { ids: [orgId] }],
      [['key', 'revoke', key.id], 'api_key.revoked', { ids: [key.id] }],
      [
        ['member', 'add', ...org, ...ada, '--name', 'Ada', '--role', 'developer'],
        'member.created',
        { created: 1 },
      ],
      [
        ['member', 'add', ...org, ...ada, '--name', 'Ada', '--role', 'admin'],
        'member.updated',
        { updated: 1 },
      ],
      [['budget', 'set', ...org, '--limit', '5', '--month', '2026-01'], 'budget.created', { created: 1 }],
      [['budget', 'set', ...org, '--limit', '6', '--month', '2026-01'], 'budget.updated', { updated: 1 }],
      [['import', '-', ...org], 'session.synced', { created: 1, ids: ['sess_1'] }],
    ]
    for (const [args, action, details] of cases) {
      const before = await log(orgId)
      const stdin = args[0] === 'import' ? JSON.stringify(session()) : ''
      await run(args, stdin)
      const after = await log(orgId)
      expect(after.slice(before.length)).toMatchObject([{ action, user_id: ACTOR, ip_address: '', details }])
      await run(args, stdin)
      expect(await log(orgId)).toEqual(after)
    }
    await run(['member', 'remove', ...org, ...ada])
    await run(['seed', ...org, '--sessions', '3', '--audit', '40', '--days', '2'])
    const period = ['--from', '2026-01-01', '--to', date]
    const report = JSON.parse(await run(['report', 'generate', ...org, '--type', 'iso27001', ...period]))
    expect(report).toMatchObject({ report_type: 'iso27001', from: '2026-01-01', to: date, total: 52 })
    expect((await log(orgId)).slice(-3)).toMatchObject([
      { action: 'member.removed', details: { ids: [expect.stringMatching(/^user_/)] } },
      { action: 'session.synced', user_id: ACTOR, details: { created: 3 } },
      { action: 'report.generated', user_id: ACTOR, details: { ids: [report.id] } },
    ])
    const created = (await log(orgId)).filter(
      ({ action, user_id }) => action === 'api_key.created' && user_id === ACTOR,
    )
    expect(created).toMatchObject([{ details: { ids: [key.id], name: 'k', scopes: ['read'] } }])
    expect(await findDifferences(database.sql, orgId, [AUDIT_ROLLUP])).toEqual([])
  }, 180_000)

  test('the log and its report go out and come back the same', async () => {
    const source = await newOrg(database.sql)
    const target = await newOrg(database.sql)
    const records = [
      ...['2026-02-01T00:00:00Z', '2026-02-01T00:00:00Z', '2026-02-03T10:00:00.000001Z'].map(
        (created_at, index) => ({
          type: 'audit',
          action: 'user.login',
          user_id: `user_${index}`,
          created_at,
          details: { b: 1, a: [null, 'ü'] },
          ip_address: index === 0 ? null : '::1',
        }),
      ),
      { type: 'report', report_type: 'audit', from: '2026-02-01', to: '2026-02-28' },
    ]
    await run(
      ['import', '-', '--org', source.slug],
      records.map((record) => JSON.stringify(record)).join('\n'),
    )
    const exported = await run(['export', '--org', source.slug])
    const first = JSON.parse(await run(['import', '-', '--org', target.slug], exported))
    // organization and key made, four records, and the entry of the report: all new there
    expect(first).toMatchObject({ received: 7, created: 7, skipped: 0 })
    const answers = async ({ key }: { key: string }) => {
      const ask = client(app, key)
      const report: AuditReport = JSON.parse(await (await ask('/v1/audit/report')).text())
      return [await (await ask('/v1/audit?date_to=2026-11-01')).text(), report]
    }
    expect(await answers(target)).toEqual(await answers(source))
    const again = JSON.parse(await run(['import', '-', '--org', target.slug], exported))
    expect(again).toMatchObject({ received: 7, unchanged: 7 })
    expect(JSON.parse(await run(['import', '-', '--org', source.slug], exported))).toMatchObject({
      unchanged: 7,
    })
  })
})

test('what is past its retention goes, with its counts', async () => {
  const one = await newOrg(database.sql)
  const two = await newOrg(database.sql)
  for (const { key } of [one, two]) {
    const records = Array.from({ length: 9_000 }, (_, index) => ({
      type: 'audit',
      action: `a.${index % 3}`,
      user_id: 'u',
      created_at: new Date(Date.UTC(2020, 0, 1) + index * 60_000).toISOString(),
    }))
    const body = JSON.stringify({ records })
    const answer = await client(app, key)('/v1/sync', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(answer.status).toBe(200)
  }
  const before = new Date(Date.UTC(2020, 0, 1) + 8_000 * 60_000)
  expect(await deleteOldAuditEntries(database.sql, before)).toBe(16_000)
  expect(await deleteOldAuditEntries(database.sql, before)).toBe(0)
  for (const { orgId } of [one, two]) {
    const { text } = await entryList.list.page(database.sql, orgId, { page: 1, per_page: 100 })
    expect(JSON.parse(text).pagination.total).toBe(1_002)
    expect(await findDifferences(database.sql, orgId, [AUDIT_ROLLUP])).toEqual([])
  }
})
