import { expect, test } from 'bun:test'
import { client, got, jsonPost, newOrg, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { sessionRecord } from '../../support/records.ts'

// The fields of a session's detail that tell of its commits.

const left = (days: number, lines: number) => ({ days, lines })

const database = await testsDatabase()
const app = testApp(database.sql)
const ask = client(app, (await newOrg(database.sql)).key)
const sessions = ['none', 'landed', 'lost', 'both', 'undone', 'squashed', 'hashed', 'before'].map((name) => ({
  ...{ type: 'session', id: `sess_${name}`, project_name: 'shop', created_at: '2026-05-01T00:00:00Z' },
}))
const send = (records: object[]) => got(ask('/v1/sync', jsonPost({ records })))
await send([
  ...sessions,
  commit('c1', 'landed both', { subject: 'Add a cart', survival: [left(14, 3)] }),
  commit('c2', 'lost both', { on_default_branch: false, survival: [left(14, 4), left(30, 4)] }),
  commit('c3', 'undone', { subject: 'Add export', survival: [left(14, 4), left(30, 0)] }),
  commit('c4', 'undone', { subject: 'Fix export', survival: [left(14, 3), left(30, 3)] }),
  commit('c5', 'squashed', { subject: 'Add import (#12)' }),
  commit('c6', 'hashed', { subject: 'Add search' }),
  commit('c7', 'before', { subject: 'Add a cart again', day: 20 }),
  commit('r1', '', { subject: 'Revert "Add export"', day: 9 }),
  commit('r2', '', { subject: 'Revert "Add import" (#15)', day: 9 }),
  commit('r3', '', { subject: 'Reverts c6, which was slow', day: 9 }),
  commit('r4', '', { subject: 'Revert "Add a cart again"', day: 9 }),
  // the one is of another project, the other's subject only begins so
  { ...commit('r5', '', { subject: 'Revert "Add a cart"', day: 9 }), project: 'other' },
  commit('r6', '', { subject: 'Revert "Add a cart for two"', day: 9 }),
])

/** A commit of which these sessions wrote all 4 lines. */
function commit(
  sha: string,
  sessions: string,
  { day = 2, ...more }: { day?: number; [field: string]: unknown },
) {
  const ids = sessions.split(' ').filter((name) => name !== '')
  const ai = { lines: 4, effective_lines: 4, by_agent: { codex: 4 }, provenance: 'note' }
  return {
    ...{ type: 'commit', project: 'shop', sha, author_email: 'ada@example.com', author_name: 'Ada' },
    ...{ committed_at: `2026-05-${String(day).padStart(2, '0')}T00:00:00Z`, files: [], ...more },
    ...(ids.length > 0 && { ai: { ...ai, sessions: ids.map((name) => `sess_${name}`) } }),
  }
}

const detail = (name: string) => got(ask(`/v1/sessions/sess_${name}`))
const NOTHING = { '14': null, '30': null }

test.each([
  ['none', null, null, NOTHING],
  ['landed', true, false, { '14': 0.75, '30': null }],
  ['lost', false, false, NOTHING],
  // the commit that the default branch has not adds nothing
  ['both', true, false, { '14': 0.75, '30': null }],
  ['undone', true, true, { '14': 0.875, '30': 0.375 }],
  ['squashed', true, true, NOTHING],
  ['hashed', true, true, NOTHING],
  ['before', true, false, NOTHING],
])('%s', async (name, landed, reverted, survival) => {
  expect(await detail(name)).toMatchObject({ landed, reverted, survival })
})

test('a detail that is sent as a record is taken, without these fields', async () => {
  const { unpriced_tokens, landed, reverted, survival } = await detail('undone')
  const record = sessionRecord('sess_copy', { created_at: '2026-05-01T00:00:00Z' })
  await send([{ ...record, unpriced_tokens, landed, reverted, survival }])
  expect(await detail('copy')).toMatchObject({ landed: null, reverted: null, survival: NOTHING })
})
