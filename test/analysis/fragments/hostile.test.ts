import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { mergeFragments, mergeTurn } from '../../../src/analysis/fragments/merge.ts'
import { composeRecord } from '../../../src/analysis/fragments/session-record.ts'
import {
  newCall,
  packFragments,
  type SessionFragments,
  type TurnFragment,
  unpackFragments,
} from '../../../src/analysis/records/fragments.ts'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { getSession } from '../../../src/features/sessions/detail-queries.ts'
import { erasePerson } from '../../../src/server/erasure/person.ts'
import { exportLines } from '../../../src/server/sync/export.ts'
import { writeRecords } from '../../../src/server/sync/write.ts'
import { newOrg } from '../../support/api.ts'
import { PLANTED } from '../../support/planted-secrets.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { sessionRecord } from '../../support/records.ts'
import { answerPart, emptyParts } from './parts.ts'

// Parts that `sync` would not send, and how far merging may go.

const database = await testsDatabase()
const deps = (prices = {}) => ({
  sql: database.sql,
  now: () => new Date('2026-11-15T12:00:00Z'),
  storeContent: false,
  pricer: () => loadPricer(prices),
})

const AT = '2026-11-14T10:00:00.000Z'
const empty = emptyParts({ from: AT, to: AT })
const turn = (id: string, over: Partial<TurnFragment> = {}): TurnFragment =>
  answerPart(id, { at: AT, position: 1, model: 'in-house', tokens: [100, 10, 0, 0, 0], ...over })
const packed = (parts: SessionFragments): string => {
  const text = packFragments(parts)
  if (text === undefined) throw new Error('too large to be packed')
  return text
}
const record = (parts: SessionFragments) =>
  sessionRecord('sess_hostile', { created_at: AT, parts: packed(parts) })

describe('packed parts', () => {
  const bomb = (json: string) => Buffer.from(Bun.gzipSync(json)).toString('base64')

  test('that unpack to far more than they are, or to many values, are none', () => {
    expect(unpackFragments(bomb(`[${'{},'.repeat(10_000_000)}{}]`))).toBeUndefined()
    const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString('hex')
    expect(unpackFragments(bomb(`["${noise}",${'[],'.repeat(1_100_000)}[]]`))).toBeUndefined()
  })

  test('of a session with very many calls are left out', () => {
    const turns = Array.from({ length: 90_000 }, (_, index) => turn(index.toString(36)))
    expect(packFragments({ ...empty, turns })).toBeUndefined()
  })
})

test('merging and composing takes time that grows with the number of items', async () => {
  const many = 20_000
  const ids = Array.from({ length: many }, (_, index) => index.toString(36))
  const calls = ids.map((id, index) => ({
    ...newCall(id),
    ...{ id, turn: id, position: 1, name: `tool ${index}`, ok: false },
  }))
  const events = ids.slice(0, 10_000).map((id) => ({ id, type: 'api_error' as const, at: AT, turn: null }))
  const parts = { ...empty, turns: ids.map((id) => turn(id)), calls, events }
  const before = process.cpuUsage()
  composeRecord(
    mergeFragments(parts, parts),
    { id: 'sess_x', project_name: 'p' },
    { pricer: await loadPricer() },
  )
  // quadratic work takes more than a minute of the processor
  const { user, system } = process.cpuUsage(before)
  expect((user + system) / 1e6).toBeLessThan(15)
})

test('merging calls is commutative, associative and idempotent', () => {
  const nullable = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null })
  const count = fc.integer({ min: 0, max: 3 })
  const part = fc.record({
    model: nullable(fc.constantFrom('a', 'b')),
    tokens: nullable(fc.tuple(count, count, count, count, fc.constant(0))),
    cost: nullable(fc.constantFrom('5', '40', '300')),
    estimate: nullable(fc.constantFrom('5', '40', '300')),
    at: nullable(fc.constantFrom(AT, '2026-11-14T11:00:00.000Z')),
  })
  fc.assert(
    fc.property(part, part, part, (...overs) => {
      const [a, b, c] = overs.map((over) => turn('x', over)) as [TurnFragment, TurnFragment, TurnFragment]
      expect(mergeTurn(a, mergeTurn(b, c))).toEqual(mergeTurn(mergeTurn(a, b), c))
      expect(mergeTurn(a, b)).toEqual(mergeTurn(b, a))
      expect(mergeTurn(a, a)).toEqual(a)
    }),
    { numRuns: 2_000 },
  )
})

test('secrets in parts are masked by the server, before and after a merge', async () => {
  const { orgId } = await newOrg(database.sql)
  const secret = Object.values(PLANTED)[0] ?? ''
  expect(secret.length).toBeGreaterThan(10)
  const first = { ...empty, branch: { at: AT, name: `fix/${secret}` }, turns: [turn('a')] }
  await writeRecords(deps(), orgId, [record(first)])
  await writeRecords(deps(), orgId, [record({ ...empty, turns: [turn('b')] })])
  const { branch, turns } = JSON.parse((await getSession(database.sql, orgId, 'sess_hostile')).text)
  expect([branch, turns]).toEqual([expect.stringContaining('[secret'), 2])
  let lines = ''
  for await (const some of exportLines(database.sql, orgId)) lines += some
  const stored = lines.split('\n').find((line) => line.includes('"parts"')) ?? '{}'
  expect(JSON.stringify(unpackFragments(JSON.parse(stored).parts))).not.toContain(secret)
})

test('a session keeps the prices of the client that read it when another part comes', async () => {
  const { orgId } = await newOrg(database.sql)
  const half = (id: string) => ({ ...empty, turns: [turn(id, { estimate: '1000000000000' })] })
  await writeRecords(deps(), orgId, [{ ...record(half('a')), estimated_cost: 1, cost_source: 'estimated' }])
  await writeRecords(deps(), orgId, [{ ...record(half('b')), estimated_cost: 1, cost_source: 'estimated' }])
  expect(JSON.parse((await getSession(database.sql, orgId, 'sess_hostile')).text)).toMatchObject({
    estimated_cost: 2,
    unpriced_tokens: 0,
  })
})

test('a person who is erased leaves packed parts too', async () => {
  const { orgId } = await newOrg(database.sql)
  const edits = ['people/jane.doe@corp.example/notes.md']
  const calls = [{ ...newCall('c'), turn: 'a', position: 1, name: 'Edit', ok: false, edits }]
  await writeRecords(deps(), orgId, [record({ ...empty, turns: [turn('a')], calls })])
  const parts = async () => {
    const [row] = await database.sql<{ parts: string }[]>`
      select d.parts from session_details d where d.org_id = ${orgId}`
    return JSON.stringify(unpackFragments(row?.parts ?? ''))
  }
  expect(await parts()).toContain('jane.doe@corp.example')
  await erasePerson(database.sql, orgId, { userId: 'cli:test', ipAddress: null }, 'jane.doe@corp.example')
  expect(await parts()).not.toContain('jane.doe')
})

test('a rejection that is read with the result alone counts', () => {
  const known = { ...newCall('c'), turn: 'a', name: 'Bash' }
  const result = { ...newCall('c'), ok: false, rejected: true }
  const merged = mergeFragments(
    { ...empty, turns: [turn('a')], calls: [known] },
    { ...empty, calls: [result] },
  )
  expect(merged.calls).toEqual([{ ...known, ok: false, rejected: true }])
})

test('more items than a session may have are left out, in any order the same', () => {
  const events = (from: number) =>
    Array.from({ length: 6_000 }, (_, index) => ({
      id: `e${from + index}`,
      type: 'compaction' as const,
      at: AT,
      turn: null,
    }))
  const [a, b] = [
    { ...empty, events: events(0) },
    { ...empty, events: events(6_000) },
  ]
  expect(mergeFragments(a, b).events).toHaveLength(10_000)
  expect(mergeFragments(a, b)).toEqual(mergeFragments(b, a))
  expect(unpackFragments(packed(mergeFragments(a, b)))).toBeDefined()
})
