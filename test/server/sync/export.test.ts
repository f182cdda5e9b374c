import { expect, setDefaultTimeout, test } from 'bun:test'
import { checkRollups } from '../../../src/server/doctor/checks.ts'
import { allResponses } from '../../support/backups.ts'
import { changesOf, namesOf, recordsOf } from '../../support/isolation/records.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { commitRecord, given, memberRecord, sessionRecord } from '../../support/records.ts'
import { account } from '../erasure/account.ts'

// An organization that imports what another one exports answers as that does.

setDefaultTimeout(180_000)
const database = await testsDatabase()
const NAMES = namesOf('mmmm')
const AT = '2025-11-10T10:00:00Z'
const TOKENS = { input: 1_000, output: 200, cache_read: 30, cache_creation: 4 }
const call = (started_at: string, model: string) => ({ role: 'assistant', started_at, model, tokens: TOKENS })

/** The fields that `recordsOf` leaves out: those that win over others, or that only some records have. */
const FURTHER = [
  memberRecord('bob', { aliases: ['bob@home.example'], joined_at: AT }),
  { type: 'budget', month: '2025-10', limit: 1234.567891 },
  sessionRecord('sess_days', {
    created_at: '2025-11-10T23:50:00Z',
    ...{ user_email: 'bob@home.example', branch: 'fix', estimated_cost: 2, stated_cost: 2.5 },
    turn_records: [call('2025-11-10T23:50:00Z', 'gpt-5'), call('2025-11-11T00:10:00Z', 'in-house')],
  }),
  sessionRecord('sess_unpriced', { created_at: AT, tokens: TOKENS, model: 'in-house', branch: 'trunk' }),
  sessionRecord('sess_twice', { project_name: 'é\u2028', created_at: AT, quality_score: 50 }),
  ...[false, true].map((on_default_branch, index) =>
    commitRecord(`main${index}`, {
      ...{ committed_at: AT, files: [], on_default_branch, subject: 'Ünïcode “subject”' },
    }),
  ),
  given({
    ...{ id: 'risk_merged', created_at: '2025-11-10T09:00:00.123456Z', branch: 'fix', merge_commit: 'abc1' },
    ...{ state: 'merged', merged_at: '2025-11-12T09:00:00Z', commits: ['abc1', 'abc1', 'abc2'] },
  }),
  given({ id: 'risk_trunk', pr_number: 2, created_at: AT, branch: 'trunk', default_branch: 'trunk' }),
]

test('an export makes an organization with the same answers, and again changes nothing', async () => {
  const scopes = ['read', 'write', 'audit:write', 'admin']
  const [from, to] = [await account(database, scopes), await account(database, scopes)]
  await from.sync([...recordsOf(NAMES), ...FURTHER])
  await from.sync([
    ...changesOf(NAMES),
    sessionRecord('sess_twice', { project_name: 'é\u2028', created_at: AT, quality_score: 60.12 }),
  ])
  const linesOf = async ({ export: exported }: typeof from) => (await exported()).trim().split('\n')
  const lines = await linesOf(from)
  const records = lines.map((line) => JSON.parse(line))
  expect(await to.sync(records)).toMatchObject({ received: lines.length })
  expect(await to.sync(records)).toMatchObject({ unchanged: lines.length })
  // the log grows by what the import itself did
  const withoutLog = (all: string[]) => all.filter((line) => !line.startsWith('{"type":"audit"'))
  expect(withoutLog(await linesOf(to))).toEqual(withoutLog(lines))
  const ids = ['sessions/sess_days', 'sessions/sess_unpriced', 'sessions/sess_twice', 'risk/risk_merged']
  for (const path of [...ids, 'risk/risk_trunk', 'risk?include=cost', 'risk?state=merged'])
    expect(await to.get(`/v1/${path}`)).toEqual(await from.get(`/v1/${path}`))
  expect(await to.get('/v1/sessions/sess_days')).toMatchObject({ estimated_cost: 2, stated_cost: 2.5 })
  expect(await to.get('/v1/sessions/sess_twice')).toMatchObject({ quality_metadata: { previous_score: 50 } })
  expect(await to.get('/v1/risk/risk_merged')).toMatchObject({ state: 'merged', sessions: { cost: 2 } })
  const answers = await allResponses(database.sql, from, NAMES)
  const copied = await allResponses(database.sql, to, NAMES)
  const isOwn = (path: string) => /^\/(?:api\/)?v1\/(?:audit|keys|organization|whoami)\b/.test(path)
  for (const [path, answer] of answers)
    if (!isOwn(path)) expect([path, copied.get(path)]).toEqual([path, answer])
  expect(await checkRollups(database.sql, false)).toMatchObject({ status: 'ok' })
})
