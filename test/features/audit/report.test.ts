import { beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AUDIT_ROLLUP } from '../../../src/accounts/audit-log/rollup.ts'
import { createKey } from '../../../src/accounts/keys/queries.ts'
import { microsOf, timestampOf } from '../../../src/base/dates.ts'
import type { AuditEntry, AuditReport } from '../../../src/features/audit/model.ts'
import { readCursor } from '../../../src/features/audit/routes.ts'
import { assignUniqueTimes } from '../../../src/features/audit/write.ts'
import { client, got, newOrg, type Org, testApp, writeTo } from '../../support/api.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'

const database = await testsDatabase()

const app = testApp(database.sql)

const actor = { userId: 'mem_test', ipAddress: '::1' }
const sync = ({ orgId }: Org, records: unknown[]) => writeTo(database.sql, orgId, records, { actor })

const reporter =
  ({ key }: Org) =>
  async (query = ''): Promise<AuditReport> =>
    await got(client(app, key)(`/v1/audit/report${query}`))

/** Follows `next_cursor` to the end; `between` runs after each page. */
async function follow(
  report: ReturnType<typeof reporter>,
  direction: 'before' | 'after',
  between: () => Promise<unknown> = async () => {},
): Promise<AuditEntry[]> {
  const entries: AuditEntry[] = []
  for (let cursor = ''; ; ) {
    const page = await report(`?direction=${direction}${cursor}`)
    expect(page.source).toBe('fallback')
    expect(page.data.length).toBeLessThanOrEqual(10_000)
    entries.push(...page.data)
    await between()
    if (!page.truncated) {
      expect(page.next_cursor).toBeNull()
      return entries
    }
    expect(page.data.length).toBe(10_000)
    expect(page.next_cursor).toBe(page.data.at(-1)?.created_at ?? '')
    cursor = `&cursor=${page.next_cursor}`
  }
}

const importedIds = (entries: readonly AuditEntry[]) =>
  entries.flatMap(({ id }) => (id.startsWith('log_bulk_') ? [id] : []))

describe('25,000 entries, 500 to a timestamp', () => {
  const bulk = Array.from({ length: 25_000 }, (_, index) => ({
    type: 'audit',
    id: `log_bulk_${String(index).padStart(5, '0')}`,
    action: index % 2 === 0 ? 'webhook.updated' : 'user.login',
    user_id: `user_${index % 7}`,
    created_at: new Date(Date.UTC(2026, 3, 1) + Math.floor(index / 500) * 1_000).toISOString(),
    details: { ids: [`hook_${index}`] },
    ip_address: '203.0.113.9',
  }))
  const ids = bulk.map(({ id }) => id)
  let own: Org

  beforeAll(async () => {
    own = await newOrg(database.sql)
    for (let start = 0; start < bulk.length; start += 10_000)
      await sync(own, bulk.slice(start, start + 10_000))
  })

  test('paged both ways while several writers write: each exactly once, times strictly increasing', async () => {
    let isWriting = true
    let written = 0
    const writer = async (number: number) => {
      for (; isWriting; written += 1) {
        const name = `${number}-${written}`
        await createKey(database.sql, own.orgId, { name, scopes: ['read'] })
        await sync(own, [
          {
            type: 'audit',
            action: 'late.import',
            user_id: 'w',
            created_at: '2026-04-01T00:00:00Z',
            details: { name },
          },
        ])
      }
    }
    const writers = [1, 2, 3].map(writer)
    const older = await follow(reporter(own), 'before')
    const newer = await follow(reporter(own), 'after')
    isWriting = false
    await Promise.all(writers)
    expect(written).toBeGreaterThan(3)
    expect(importedIds(newer)).toEqual(ids)
    expect(importedIds(older)).toEqual(ids.toReversed())
    for (const entries of [newer, older.toReversed()]) {
      expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length)
      for (const [index, entry] of entries.entries()) {
        expect(entry.created_at > (entries[index - 1]?.created_at ?? '')).toBe(true)
      }
    }
    // a reader in this direction meets entries that were written after the first page, at the end of the log
    const all = await follow(reporter(own), 'after')
    const last = newer.at(-1)?.created_at
    const later = await reporter(own)(`?direction=after&cursor=${last}`)
    expect(later.data).toEqual(all.filter(({ created_at }) => created_at > (last ?? '')))
    expect(await findDifferences(database.sql, own.orgId, [AUDIT_ROLLUP])).toEqual([])
  })

  test('the summary counts the whole log on every page', async () => {
    const all = await follow(reporter(own), 'after')
    const page = await reporter(own)('?cursor=2026-04-01T00:00:20Z')
    const count = (keyOf: (entry: AuditEntry) => string) =>
      [...Map.groupBy(all, keyOf)].map(([key, of]) => [key, of.length] as const)
    const byCount = (a: readonly [string, number], b: readonly [string, number]) =>
      b[1] - a[1] || (a[0] < b[0] ? -1 : 1)
    const days = count(({ created_at }) => created_at.slice(0, 10)).sort()
    expect(page.summary).toEqual({
      total: all.length,
      by_action: count((entry) => entry.action)
        .sort(byCount)
        .map(([action, n]) => ({ action, count: n })),
      by_user: count((entry) => entry.user_id)
        .sort(byCount)
        .map(([user_id, n]) => ({ user_id, count: n })),
      by_day: days.map(([date, n]) => ({ date, count: n })),
    })
    expect(page.period).toEqual({ from: '2026-04-01', to: days.at(-1)?.[0] ?? '' })
    expect(page.report_id).toBeNull()
  })

  test('the same requests again change nothing, and the answer has a stable ETag', async () => {
    expect(await sync(own, bulk.slice(0, 10_000))).toMatchObject({ unchanged: 10_000 })
    const ask = client(app, own.key)
    const first = await ask('/v1/audit/report')
    const etag = first.headers.get('etag') ?? ''
    const again = await ask('/v1/audit/report', { headers: { 'if-none-match': etag } })
    expect(again.status).toBe(304)
  })
})

describe('cursors', () => {
  let own: Org
  beforeAll(async () => {
    own = await newOrg(database.sql)
    const at = ['2026-03-01T10:00:00.123455Z', '2026-03-01T10:00:00.123456Z', '2026-03-01T10:00:00.123457Z']
    await sync(
      own,
      at.map((created_at, index) => ({
        type: 'audit',
        id: `log_${index}`,
        action: 'a',
        user_id: 'u',
        created_at,
      })),
    )
  })

  test.each([
    ['before', '2026-03-01T10:00:00.123456Z', ['log_0']],
    ['after', '2026-03-01T10:00:00.123456Z', ['log_2']],
    ['before', '2026-03-01T12:00:00.123456%2B02:00', ['log_0']],
    ['before', '2026-03-01T12:00:00.123456+02:00', ['log_0']],
    ['before', '2026-03-01t10:00:00.1234561z', ['log_1', 'log_0']],
    ['after', '2026-03-01T10:00:00.1234569Z', ['log_2']],
    ['before', '2026-03-02T09:59:00.123456%2B23:59', ['log_0']],
    ['after', '2026-03-01T10:00:00.1Z', ['log_0', 'log_1', 'log_2']],
    ['before', '2026-03-01', []],
    ['after', '2026-03-01', ['log_0', 'log_1', 'log_2']],
    ['before', '2026-03-02', ['log_2', 'log_1', 'log_0']],
    ['before', '2026-03-01T10:00:00.123456', ['log_0']],
    ['after', '2026-03-01%2010:00', ['log_0', 'log_1', 'log_2']],
    ['before', '2026-03-01T12:01+02:00', ['log_2', 'log_1', 'log_0']],
    ['before', '1970-01-01T00:00:00Z', []],
    ['before', '9999-12-31T23:59:59.999999999Z', ['log_2', 'log_1', 'log_0']],
    ['after', '9999-12-31T23:59:59.999999999Z', []],
  ])('%s %s', async (direction, cursor, expected) => {
    const report = await reporter(own)(`?direction=${direction}&cursor=${cursor}`)
    expect(report.data.flatMap(({ id }) => (id.length === 5 ? [id] : []))).toEqual(expected)
  })

  test.each([
    ['cursor=yesterday', 'cursor'],
    ['cursor=2026-03', 'cursor'],
    ['cursor=2026', 'cursor'],
    ['cursor=2026-03-01T10', 'cursor'],
    ['cursor=2026-02-30T10:00:00Z', 'cursor'],
    ['cursor=2026-03-01T24:00:00Z', 'cursor'],
    ['cursor=2026-03-01T10:00:00Z&cursor=2026-03-01T10:00:00Z', 'cursor'],
    ['direction=sideways', 'direction'],
  ])('refuses %s', async (query, field) => {
    const answer = await client(app, own.key)(`/v1/audit/report?${query}`)
    const body = JSON.parse(await answer.text())
    expect([answer.status, body.code, body.details[0].field]).toEqual([400, 'VALIDATION_ERROR', field])
  })

  test('a time goes through text and back', () => {
    const micros = fc.bigInt({ min: 0n, max: microsOf('9999-12-31T23:59:59.999999Z') })
    fc.assert(
      fc.property(micros, (at) => {
        expect(microsOf(timestampOf(at))).toBe(at)
        expect(readCursor(timestampOf(at), 'before').at).toBe(timestampOf(at))
      }),
    )
  })

  test('times are placed apart, none before it was wanted, none taken', () => {
    const time = fc.bigInt({ min: 0n, max: 40n })
    fc.assert(
      fc.property(fc.array(time), fc.uniqueArray(time), (wanted, taken) => {
        const placed = assignUniqueTimes(wanted, new Set(taken))
        expect(new Set([...placed, ...taken]).size).toBe(placed.length + taken.length)
        expect(placed.every((at, index) => at >= (wanted[index] ?? 0n))).toBe(true)
      }),
    )
  })
})

describe('compliance reports', () => {
  const entries = (count: number, prefix: string, day = '2026-05-10') =>
    Array.from({ length: count }, (_, index) => ({
      type: 'audit',
      id: `log_${prefix}${index}`,
      action: 'user.login',
      user_id: 'user_a',
      created_at: `${day}T00:00:00Z`,
    }))
  const report = {
    type: 'report',
    id: 'report_q2',
    report_type: 'soc2',
    from: '2026-05-01',
    to: '2026-05-31',
  }

  test('hold their period as it was when they were made', async () => {
    const own = await newOrg(database.sql)
    const ask = reporter(own)
    expect(await sync(own, [report, ...entries(3, 'a'), ...entries(2, 'out', '2026-06-01')])).toMatchObject({
      created: 6,
    })
    const made = await ask()
    expect(made).toMatchObject({
      source: 'pregenerated',
      report_id: 'report_q2',
      period: { from: '2026-05-01', to: '2026-05-31' },
      summary: {
        total: 3,
        by_action: [{ action: 'user.login', count: 3 }],
        by_user: [{ user_id: 'user_a', count: 3 }],
        by_day: [{ date: '2026-05-10', count: 3 }],
      },
      truncated: false,
      next_cursor: null,
    })
    expect(made.generated_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(made.data.map(({ id }) => id)).toEqual(['log_a2', 'log_a1', 'log_a0'])
    expect((await ask('?direction=after')).data.map(({ id }) => id)).toEqual(['log_a0', 'log_a1', 'log_a2'])
    await sync(own, entries(4, 'late'))
    expect(await ask()).toEqual(made)
    // a cursor asks the log
    const rest = await ask(`?cursor=${made.data[0]?.created_at}`)
    expect([rest.source, rest.data.map(({ id }) => id)]).toEqual(['fallback', ['log_a1', 'log_a0']])
    expect(await sync(own, [report])).toMatchObject({ unchanged: 1 })
    expect(await sync(own, [{ ...report, to: '2026-05-30' }])).toMatchObject({ updated: 1 })
    expect((await ask()).summary.total).toBe(7)
    const [entry] = (await ask('?cursor=9999-01-01T00:00:00Z')).data
    expect(entry).toMatchObject({
      action: 'report.generated',
      user_id: 'mem_test',
      ip_address: '::1',
      details: { created: 0, updated: 1, ids: ['report_q2'] },
    })
  })

  test('longer ones go on in the log; the newest answers; one of today ends where it was made', async () => {
    const own = await newOrg(database.sql)
    const ask = reporter(own)
    for (const prefix of ['x', 'y']) await sync(own, entries(7_000, prefix))
    await sync(own, [report])
    const first = await ask()
    expect([first.data.length, first.truncated, first.summary.total]).toEqual([10_000, true, 14_000])
    const rest = await ask(`?cursor=${first.next_cursor}`)
    expect([rest.data.length, rest.truncated]).toEqual([4_000, false])
    expect(new Set([...first.data, ...rest.data].map(({ id }) => id)).size).toBe(14_000)
    const today = new Date().toISOString().slice(0, 10)
    await sync(own, [{ type: 'report', report_type: 'audit', from: '2026-05-11', to: today }])
    await sync(own, [{ type: 'budget', month: '2026-01', limit: 5 }])
    const newest = await ask()
    expect(newest.data.map(({ action }) => action)).toEqual([
      'report.generated',
      'api_key.created',
      'organization.created',
    ])
    expect(newest.summary.total).toBe(3)
    expect(newest.report_id).toMatch(/^report_[0-9a-z]{20}$/)
  })

  test('of nothing', async () => {
    const own = await newOrg(database.sql)
    await sync(own, [report])
    expect(await reporter(own)()).toMatchObject({
      source: 'pregenerated',
      summary: { total: 0, by_action: [], by_user: [], by_day: [] },
      data: [],
      truncated: false,
      next_cursor: null,
    })
  })

  test.each([
    [{ report_type: 'pci' }, 'records[0].report_type'],
    [{ from: '2026-06-01' }, 'records[0].from'],
    [{ to: '2026-02-30' }, 'records[0].to'],
    [{ id: 'log_1' }, 'records[0].id'],
  ])('refuses %j', async (fields, field) => {
    const own = await newOrg(database.sql)
    const refused = await sync(own, [{ ...report, ...fields }]).catch((error) => error)
    expect(refused.options?.details[0].field).toBe(field)
  })
})
