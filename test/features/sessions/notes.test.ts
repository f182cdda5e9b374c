import { beforeAll, expect, test } from 'bun:test'
import { loadPricer } from '../../../src/analysis/scoring/prices.ts'
import { jsonPost, newOrg, repeatingClient, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'

// Agents write more on a call than its tokens: the version, a skill, who is paid.

const database = await testsDatabase()
let ask: (path: string, init?: RequestInit) => Promise<Response>

beforeAll(async () => {
  const { key } = await newOrg(database.sql)
  ask = repeatingClient(testApp(database.sql, { pricer: loadPricer }), key)
})

const send = async (...records: object[]) => {
  const response = await ask('/v1/sync', jsonPost({ records }))
  return { status: response.status, body: JSON.parse(await response.text()) }
}
const detailOf = async (id: string) => JSON.parse(await (await ask(`/v1/sessions/${id}`)).text())

const NOTES = {
  ...{ version: '2.1.330', effort: 'high', vendor: 'aws', paid_by: 'api' },
  ...{ skill: 'review', subagent: 'Explore', mcp_server: 'linear', plugin: 'tools@acme' },
}
const TOKENS = { input: 0, output: 0, cache_read: 0, cache_creation: 1_000_000, cache_creation_1h: 600_000 }
const session = (id: string, over: object) => ({
  ...{ type: 'session', id, project_name: 'shop', created_at: '2026-11-14T10:00:00Z', source: 'claude-code' },
  ...{ model: 'claude-haiku-4-5', ...over },
})
const turn = { model: 'claude-haiku-4-5', started_at: '2026-11-14T10:01:00Z' }

test('a turn has its notes, and the part of the cache that is kept for an hour costs its own price', async () => {
  const turn_records = [{ ...turn, ...NOTES, tokens: TOKENS }, turn]
  const { status } = await send(session('sess_notes', { turn_records, version: '2.1.329', paid_by: 'plan' }))
  expect(status).toBe(200)
  const detail = await detailOf('sess_notes')
  expect(detail.turn_records[0]).toMatchObject({ ...NOTES, tokens: TOKENS })
  expect(Object.keys(detail.turn_records[1])).not.toContain('version')
  expect(detail.tokens).toEqual(TOKENS)
  // 400,000 at 1.25, 600,000 at 2 US dollars per million
  expect(detail.estimated_cost).toBe(1.7)
  expect(detail).toMatchObject({ version: '2.1.329', effort: null, vendor: null, paid_by: 'plan' })
})

test('a client that does not know the notes takes none away', async () => {
  const id = 'sess_older'
  const noted = session(id, {
    ...{ version: '2.1.330', tokens: TOKENS },
    turn_records: [{ ...turn, ...NOTES, tokens: TOKENS }],
  })
  const { cache_creation_1h: _, ...tokens } = TOKENS
  const plain = session(id, { tokens, turn_records: [{ ...turn, tokens }] })
  expect((await send(plain)).body).toMatchObject({ created: 1 })
  expect((await send(noted)).body).toMatchObject({ updated: 1 })
  const detail = await detailOf(id)
  expect((await send(plain)).body).toMatchObject({ unchanged: 1, updated: 0 })
  expect((await send({ ...plain, version: null })).body).toMatchObject({ unchanged: 1, updated: 0 })
  expect(await detailOf(id)).toEqual(detail)
  // it grows: the turns that were known keep theirs
  const more = { ...turn, started_at: '2026-11-14T10:02:00Z', tokens }
  const grown = { ...plain, tokens: undefined, turn_records: [{ ...turn, tokens }, more] }
  expect((await send(grown)).body).toMatchObject({ updated: 1 })
  const after = await detailOf(id)
  expect(after.turn_records[0]).toEqual(detail.turn_records[0])
  expect(after.turn_records[1].version).toBeUndefined()
  expect(after).toMatchObject({ version: '2.1.330', estimated_cost: 1.7 + 1.25 })
  // in one batch, in either order
  const both = session('sess_both', { turn_records: [{ ...turn, ...NOTES, tokens: TOKENS }] })
  await send(both, { ...both, turn_records: [{ ...turn, tokens }] })
  expect((await detailOf('sess_both')).turn_records[0]).toMatchObject({ ...NOTES, tokens: TOKENS })
})

test('wrong notes are named', async () => {
  const { status, body } = await send(
    session('sess_wrong', {
      vendor: 'ibm',
      turn_records: [{ version: '', skill: 'x'.repeat(201), paid_by: 'cash', plugin: null }],
    }),
    session('sess_beyond', { turn_records: [{ tokens: { cache_creation: 1, cache_creation_1h: 2 } }] }),
  )
  expect(status).toBe(400)
  expect(body.details.map(({ field }: { field: string }) => field).sort()).toEqual([
    'records[0].turn_records[0].paid_by',
    'records[0].turn_records[0].skill',
    'records[0].turn_records[0].version',
    'records[0].vendor',
    'records[1].turn_records[0].tokens.cache_creation_1h',
  ])
})
