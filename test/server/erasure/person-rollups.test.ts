import { expect, test } from 'bun:test'
import { AUDIT_ROLLUP } from '../../../src/accounts/audit-log/rollup.ts'
import type { Sql } from '../../../src/database/client.ts'
import { COMMIT_ROLLUP } from '../../../src/features/commits/rollup.ts'
import { RISK_ROLLUP } from '../../../src/features/risk/rollup.ts'
import { OUTCOME_ROLLUP } from '../../../src/features/usage/outcome-rollup.ts'
import { TICKET_ROLLUP } from '../../../src/features/usage/rollup.ts'
import { TRAIT_ROLLUP } from '../../../src/features/usage/work-rollup.ts'
import { erasePerson } from '../../../src/server/erasure/person.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'
import { given } from '../../support/records.ts'
import { account, session } from './account.ts'

// Other writers come between two transactions of an erasure, and after an erasure that was interrupted.

const database = await testsDatabase()

const ROLLUPS = [OUTCOME_ROLLUP, COMMIT_ROLLUP, RISK_ROLLUP, AUDIT_ROLLUP, TICKET_ROLLUP, TRAIT_ROLLUP]
const ACTOR = { userId: 'cli:operator', ipAddress: null }
const ADA = 'ada@example.com'
const BOB = 'bob@example.com'

const commit = (sha: string, author_email: string, project: string) => ({
  ...{ type: 'commit', project, sha, author_email, author_name: 'A', subject: `for ${ADA}` },
  ...{ committed_at: '2026-11-01T10:00:00Z', files: [], on_default_branch: true },
  ai: {
    ...{ lines: 5, effective_lines: 8, by_agent: { codex: 5 } },
    ...{ provenance: 'transcript', sessions: [] },
  },
})
const RECORDS = [
  ...[ADA, BOB].flatMap((author) => [
    ...['shop', 'pay', `notes of ${ADA}`].map((project, n) => commit(`${author[0]}${n}`, author, project)),
  ]),
  ...[ADA, BOB].flatMap((author_email, n) =>
    ['acme/shop', `${ADA}/fork`].map((repo, k) => {
      const fields = { pr_number: n + 1, id: `risk_${n}${k}`, project: k === 0 ? 'shop' : `notes of ${ADA}` }
      return given({ repo, ...fields, author_email, branch: `${n}${k}/${ADA}` })
    }),
  ),
  // linked by a commit that its user made meanwhile
  given({ repo: 'acme/pay', pr_number: 5, id: 'risk_5', project: 'pay', commits: ['a1'] }),
  session('5', '2026-11-01', {
    ...{ user_email: ADA, project_name: 'pay', ended_at: '2026-11-01T11:00:00Z' },
    ...{ turns: 1, estimated_cost: 1 },
  }),
  ...[ADA, BOB].flatMap((user_email, n) =>
    ['acme/shop', `${ADA}/fork`].map((repo, k) =>
      session(`${n}${k}`, '2026-11-01', {
        ...{ user_email, source: 'codex', turns: 1, estimated_cost: 1 },
        turn_records: [
          { turn_number: 1, role: 'assistant', model: 'gpt-5', effort: 'high', tokens: { output: 1 } },
        ],
        ...(k === 0 ? { branch: `${n}${k}/${ADA}` } : { pull_requests: [{ repo, number: n + 1 }] }),
      }),
    ),
  ),
]

/** Pool whose transactions are followed by `check`, until the one with the number `last`, which fails. */
function checked(sql: Sql, check: () => Promise<void>, last = Number.POSITIVE_INFINITY) {
  const done = { transactions: 0 }
  const begin = async (work: Parameters<Sql['begin']>[1]) => {
    if (done.transactions + 1 === last) throw new Error('interrupted')
    const result = await sql.begin(work as never)
    done.transactions += 1
    await check()
    return result
  }
  const pool = new Proxy(sql, {
    get: (target, name) => (name === 'begin' ? begin : Reflect.get(target, name)),
  })
  return { pool, done }
}

test('sums are right after each transaction, also of an interrupted erasure', async () => {
  const [one, two] = [await account(database), await account(database)]
  for (const { sync } of [one, two]) await sync(RECORDS)
  const checkOf = (orgId: string) => async () =>
    expect(await findDifferences(database.sql, orgId, ROLLUPS)).toEqual([])
  const outcomes = async ({ get }: typeof one) => (await get('/v1/outcomes?by=member')).total
  const before = await outcomes(one)
  expect(before).toMatchObject({ commits: 6, pull_requests: { open: 5 }, linked_cost: 5 })

  const { pool, done } = checked(database.sql, checkOf(one.orgId))
  await erasePerson(pool, one.orgId, ACTOR, ADA)
  expect(await outcomes(one)).toEqual(before)

  const interrupted = checked(database.sql, checkOf(two.orgId), done.transactions)
  await expect(erasePerson(interrupted.pool, two.orgId, ACTOR, ADA)).rejects.toThrow('interrupted')
  expect(JSON.stringify(await two.get('/v1/outcomes?by=member'))).not.toContain(ADA)
  expect(await outcomes(two)).toEqual(before)
  expect(await one.doctor()).toStartWith('agree')
})
