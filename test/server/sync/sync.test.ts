import { describe, expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { SESSION_ROLLUPS } from '../../../src/features/sessions/rollup.ts'
import { writeRecords } from '../../../src/server/sync/write.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'
import { memberRecord, numbersFrom, sessionRecord } from '../../support/records.ts'
import { asOrganization } from '../../support/rls.ts'

const NOW = new Date('2026-11-21T12:00:00.000Z')
const ORG = 'org_sync'

const deps = () => ({ sql: database.sql, now: () => NOW, storeContent: false, pricer: () => loadPricer() })
const sync = (records: unknown[], org = ORG) => asOrganization(org, () => writeRecords(deps(), org, records))

const usual = {
  project_name: 'web',
  created_at: '2026-11-01T10:00:00Z',
  estimated_cost: 1.5,
  quality_score: 80,
}
const session = (id: string, fields: Record<string, unknown> = {}) =>
  sessionRecord(`sess_${id}`, { ...usual, ...fields })

const database = await testsDatabase()
await database.sql`
    insert into organizations (org_id, slug, name, plan)
    values (${ORG}, 'sync', 'Sync', 'cloud_team'), ('org_other', 'other', 'Other', 'cloud_pro')`
await database.sql`insert into org_locks (org_id) values (${ORG}), ('org_other')`

describe('writing records', () => {
  test('counts what is new, changed and known', async () => {
    expect(await sync([session('a'), session('b')])).toEqual({
      received: 2,
      created: 2,
      updated: 0,
      unchanged: 0,
    })
    expect(await sync([session('a'), session('b', { turns: 3 })])).toEqual({
      received: 2,
      created: 0,
      updated: 1,
      unchanged: 1,
    })
  })

  test('many new sessions beside a changed one are stored as each of them alone', async () => {
    const many = (count: number) =>
      Array.from({ length: count }, (_item, nth) =>
        session(`many_${nth}`, {
          project_name: 'tab\t back\\ \\N "quoted"',
          created_at: `2026-10-${10 + (nth % 20)}T10:00:00Z`,
          summary: nth % 2 === 0 ? 'line\nline\r\\.' : null,
          user_email: nth % 3 === 0 ? null : `dev${nth % 3}@example.com`,
          estimated_cost: nth / 1_000,
        }),
      )
    await sync([session('many_0', { turns: 9 })])
    expect(await sync(many(300))).toEqual({ received: 300, created: 299, updated: 1, unchanged: 0 })
    for (const record of many(300)) await sync([record], 'org_other')
    const stored = (org: string) => database.sql`
      select s.id, s.project, s.created_at, s.day, s.turns, s.estimated_cost, s.quality_score, s.security_score,
        s.user_id, s.user_email, s.content_hash, d.detail::text as detail
      from sessions s
      join session_details d on d.org_id = s.org_id and d.session_id = s.id
      where s.org_id = ${org} and s.id like 'sess_many_%'
      order by s.id`
    expect([...(await stored(ORG))]).toEqual([...(await stored('org_other'))])
    expect(await findDifferences(database.sql, ORG, SESSION_ROLLUPS)).toEqual([])
  })

  test('twice in one request: the later one stands, and again it changes nothing', async () => {
    expect(await sync([session('twice', { turns: 1 }), session('twice', { turns: 2 })])).toEqual({
      received: 2,
      created: 1,
      updated: 0,
      unchanged: 1,
    })
    const again = await sync([session('twice', { turns: 1 }), session('twice', { turns: 2 })])
    expect(again).toEqual({ received: 2, created: 0, updated: 0, unchanged: 2 })
    const [row] =
      await database.sql`select s.turns from sessions s where s.org_id = ${ORG} and s.id = 'sess_twice'`
    expect(row?.turns).toBe(2)
  })

  test('stores nothing of a batch with one bad record, and names the field', async () => {
    const bad = sync([session('good'), session('bad', { turn_records: [{ cost: 'much' }] })])
    expect(bad).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      options: { details: [{ field: 'records[1].turn_records[0].cost' }] },
    })
    await bad.catch(() => {})
    const rows = await database.sql`select 1 from sessions s where s.org_id = ${ORG} and s.id = 'sess_good'`
    expect(rows.length).toBe(0)
  })

  test.each([
    [null, 'records[0]'],
    [[], 'records[0]'],
    ['x', 'records[0]'],
    [{}, 'records[0].type'],
    [{ type: 'sessions' }, 'records[0].type'],
    [{ type: '__proto__' }, 'records[0].type'],
    [session('x'.repeat(65)), 'records[0].id'],
    [session('x', { project_name: 'x'.repeat(201) }), 'records[0].project_name'],
    [session('x', { turns: '1' }), 'records[0].turns'],
    [session('x', { id: 'sess_' }), 'records[0].id'],
    [session('x', { id: 'hook_1' }), 'records[0].id'],
    [session('x', { created_at: '2026-02-30T00:00:00Z' }), 'records[0].created_at'],
    [session('x', { created_at: '2026-02-01T00' }), 'records[0].created_at'],
    [session('x', { project_name: '' }), 'records[0].project_name'],
    [session('x', { project_name: 'a\0b' }), 'records[0].project_name'],
    [session('x', { summary: '\ud800' }), 'records[0].summary'],
    [session('x', { estimated_cost: -1 }), 'records[0].estimated_cost'],
    [session('x', { estimated_cost: Number.POSITIVE_INFINITY }), 'records[0].estimated_cost'],
    [session('x', { turns: 1.5 }), 'records[0].turns'],
    [session('x', { org_id: 'org_other' }), 'records[0].org_id'],
    [session('x', { cost_source: 'guessed' }), 'records[0].cost_source'],
    [session('x', { quality_metadata: { score: 70 } }), 'records[0].quality_metadata.score'],
    [
      session('x', { quality_metadata: { breakdown: { 'a\0': 1 } } }),
      'records[0].quality_metadata.breakdown.a\0',
    ],
    // values that are filled in have the limits of values that are sent
    [
      session('x', { estimated_cost: null, model: 'claude-opus-4-5', tokens: { output: 1e12 } }),
      'records[0].estimated_cost',
    ],
    [
      session('x', { turn_records: Array.from({ length: 101 }, (_, n) => ({ model: `m${n}` })) }),
      'records[0].models',
    ],
    [
      session('x', { turn_records: Array.from({ length: 2 }, () => ({ tokens: { input: 1e12 } })) }),
      'records[0].tokens.input',
    ],
    [memberRecord('nobody', { email: 'nobody' }), 'records[0].email'],
    [
      { type: 'member', email: 'a@b', display_name: 'N', role: 'king', joined_at: '2026-01-01T00:00:00Z' },
      'records[0].role',
    ],
    [{ type: 'budget', month: '2026-13', limit: 5 }, 'records[0].month'],
    [{ type: 'budget', month: '2026-11', limit: 0 }, 'records[0].limit'],
  ])('refuses %j', async (record, field) => {
    const refused = await sync([record]).catch((error) => error)
    expect(refused.code).toBe('VALIDATION_ERROR')
    expect(refused.options.details.map((problem: { field: string }) => problem.field)).toEqual([field])
  })

  test('points of factors count as they are stored, to 2 decimals', async () => {
    const factor = (points: number) => ({ name: 'f', category: 'c', count: 1, weight: 1, points })
    const factors = Array.from({ length: 100 }, () => factor(0.0049))
    expect(await sync([session('tiny', { quality_score: 75, quality_metadata: { factors } })])).toMatchObject(
      { created: 1 },
    )
    const half = Array.from({ length: 100 }, () => factor(0.005))
    const refused = sync([session('tiny', { quality_score: 75, quality_metadata: { factors: half } })])
    expect(refused).rejects.toMatchObject({ code: 'VALIDATION_ERROR' })
    await refused.catch(() => {})
  })

  test('an organization without a lock is written by nobody', async () => {
    const unlocked = sync([session('free')], 'org_unknown')
    expect(unlocked).rejects.toThrow('The organization was deleted')
    await unlocked.catch(() => {})
  })

  test('a member is one address in any case, and keeps its id', async () => {
    const { id: _, ...member } = memberRecord('ada', {
      email: 'Ada@Example.com',
      joined_at: '2026-01-01T00:00:00+02:00',
    })
    expect(await sync([{ ...member, id: 'user_ada' }])).toMatchObject({ created: 1 })
    expect(await sync([{ ...member, email: 'ada@example.com' }])).toMatchObject({ unchanged: 1 })
    expect(await sync([{ ...member, role: 'admin' }])).toMatchObject({ updated: 1 })
    const foreign = await sync([{ ...member, email: 'bob@example.com', id: 'user_ada' }]).catch(
      (error) => error,
    )
    expect(foreign.options.details[0].field).toBe('records[0].id')
  })

  test('a budget is one limit a month', async () => {
    expect(await sync([{ type: 'budget', month: '2026-11', limit: 100 }])).toMatchObject({ created: 1 })
    expect(await sync([{ type: 'budget', month: '2026-11', limit: 100 }])).toMatchObject({ unchanged: 1 })
    expect(await sync([{ type: 'budget', month: '2026-11', limit: 120.5 }])).toMatchObject({ updated: 1 })
  })

  test('money is rounded half up to 6 decimals, of the decimal that was written', async () => {
    await sync([
      session('money', { estimated_cost: 4.43127685 }),
      session('tie', { estimated_cost: 1.0000005 }),
    ])
    const rows = await database.sql`
      select s.estimated_cost as cost from sessions s
      where s.org_id = ${ORG} and s.id in ('sess_money', 'sess_tie') order by s.id`
    expect(rows.map((row) => row.cost)).toEqual(['4.431277', '1.000001'])
  })

  test('a changed score keeps the one before it', async () => {
    await sync([session('scored', { quality_score: 50 })])
    await sync([session('scored', { quality_score: 60 })])
    await sync([session('scored', { quality_score: 60, turns: 9 })])
    const [row] = await database.sql`
      select d.detail from session_details d where d.org_id = ${ORG} and d.session_id = 'sess_scored'`
    expect(row?.detail.quality_metadata).toMatchObject({
      score: 60,
      previous_score: 50,
      scored_at: NOW.toISOString(),
    })
  })

  test('a session without a score is scored: base and points add up', async () => {
    const calls = (ok: boolean) => ({
      role: 'assistant',
      tool_calls: Array.from({ length: 10 }, () => ({ name: 'Bash', ok })),
    })
    await sync([
      session('unscored', {
        quality_score: null,
        turn_records: [{ role: 'user' }, calls(true), calls(false)],
      }),
    ])
    const [row] = await database.sql`
      select s.quality_score as score, d.detail from sessions s
      join session_details d on d.org_id = s.org_id and d.session_id = s.id
      where s.org_id = ${ORG} and s.id = 'sess_unscored'`
    const { score, base, factors } = row?.detail?.quality_metadata ?? {}
    const sum = factors.reduce(
      (total: number, factor: { points: number }) => total + Math.round(factor.points * 100),
      base * 100,
    )
    expect(sum).toBe(Math.round(score * 100))
    expect(Number(row?.score)).toBe(score)
    expect(score).toBeLessThan(75)
  })
})

test('rollups equal the sessions after random writes, moves and rewrites, from several writers at once', async () => {
  const random = numbersFrom(7)
  for (let round = 0; round < 12; round += 1) {
    const batches = Array.from({ length: 3 }, () =>
      Array.from({ length: 25 }, () =>
        session(`r${random(60)}`, {
          project_name: `p${random(3)}`,
          created_at: `2026-0${1 + random(3)}-1${random(4)}T10:00:00Z`,
          estimated_cost: random(1_000_000) / 1e6,
          quality_score: random(10_001) / 100,
          security_metadata: { score: random(101), findings: [] },
        }),
      ),
    )
    await Promise.all(batches.map((batch) => sync(batch, 'org_other')))
    expect(await findDifferences(database.sql, 'org_other', SESSION_ROLLUPS)).toEqual([])
  }
})
