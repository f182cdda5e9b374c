import { expect, test } from 'bun:test'
import { USAGE_TABLES } from '../../../src/features/usage/check.ts'
import { client, jsonInit, newOrg, PLENTY, testApp } from '../../support/api.ts'
import { findDifferences, plainDatabase, testsDatabase } from '../../support/postgres.ts'
import { memberRecord, numbersFrom } from '../../support/records.ts'
import { citusUrls } from '../../support/scaling/citus.ts'

// Parts of sessions belong to pull requests: after each of many changes in any order, the stored parts are what the
// rules give for all that is stored.

const database = await testsDatabase()

const app = testApp(database.sql, { config: { rateLimits: PLENTY } })
const owner = await newOrg(database.sql, { scopes: ['read', 'write', 'admin'] })

const below = numbersFrom(7)
const pick = <Item>(items: readonly Item[]): Item => items[below(items.length)] as Item
const day = () =>
  `2026-06-${String(1 + below(28)).padStart(2, '0')}T${String(below(24)).padStart(2, '0')}:00:00Z`

const PEOPLE = ['ada', 'bob', 'eve']
const BRANCHES = ['refunds', 'main', 'search', 'old']
const SHAS = Array.from({ length: 12 }, (_, index) => `c${index}`)
const PROJECTS = ['checkout', 'shop']

function session(): object {
  const created_at = day()
  const ended_at = new Date(Date.parse(created_at) + below(72) * 3_600_000).toISOString()
  return {
    ...{ type: 'session', id: `sess_${below(40)}`, project_name: pick(PROJECTS), created_at, ended_at },
    ...{ turns: 1, estimated_cost: (below(30_000) * 100 + below(100)) / 1e6, branch: pick(BRANCHES) },
    ...pick([{ user_id: `user_${pick(PEOPLE)}` }, { user_email: `${pick(PEOPLE)}@home.example` }, {}]),
    ...(below(4) === 0 && { pull_requests: [{ repo: 'acme/checkout', number: 1 + below(6) }] }),
  }
}
function pullRequest(): object {
  const created_at = day()
  return {
    ...{ type: 'pr_risk', repo: pick(['acme/checkout', 'acme/shop']), pr_number: 1 + below(6) },
    ...{ pr_title: 'A change', files_changed: 1, created_at },
    ...{ impact_score: 1, regression_score: 1, security_score: 1, coupling_score: 1 },
    ...pick([{ project: pick(PROJECTS) }, {}]),
    ...pick([{ branch: pick(BRANCHES) }, {}]),
    commits: SHAS.filter(() => below(6) === 0),
    ...pick([
      { state: 'open' },
      { state: 'merged', merged_at: new Date(Date.parse(created_at) + 86_400_000).toISOString() },
    ]),
  }
}
const commit = (): object => ({
  ...{ type: 'commit', project: pick(PROJECTS), sha: pick(SHAS), committed_at: day(), files: [] },
  ...{ author_email: `${pick(PEOPLE)}@${pick(['example.com', 'home.example'])}`, author_name: 'Somebody' },
})
const member = (): object => {
  const name = pick(PEOPLE)
  return memberRecord(name, pick([{ aliases: [`${name}@home.example`] }, { aliases: [] }, {}]))
}

const send = (path: string, body: object, method = 'POST') =>
  client(app, owner.key)(path, jsonInit(method, body))

test('stays what the rules give, whatever is written', async () => {
  let parts = 0
  for (let round = 0; round < 120; round += 1) {
    const kind = pick([session, session, pullRequest, pullRequest, commit, commit, member])
    const records = Array.from({ length: 1 + below(5) }, kind)
    const response = await send('/v1/sync?reassign=true', { records })
    if (response.status !== 200) expect([records, await response.text()]).toEqual([])
    if (round % 15 === 14)
      await client(app, owner.key)(`/v1/sessions/sess_${below(40)}`, { method: 'DELETE' })
    expect(await findDifferences(database.sql, owner.orgId, USAGE_TABLES)).toEqual([])
    const [stored] = await database.sql<{ parts: number; wrong: number }[]>`
      select
        count(*)::integer as parts,
        (
          select count(*)::integer
          from (
            select s.session_id, sum(s.part) as sum
            from pr_sessions s
            where s.org_id = ${owner.orgId}
            group by s.session_id
          ) s
          join sessions t on t.org_id = ${owner.orgId} and t.id = s.session_id
          where t.estimated_cost <> s.sum
        ) as wrong
      from pr_sessions p
      where p.org_id = ${owner.orgId}`
    expect(stored?.wrong).toBe(0)
    parts = Math.max(parts, stored?.parts ?? 0)
  }
  expect(parts).toBeGreaterThan(15)
  for (const name of PEOPLE) {
    const changed = await send(`/v1/members/user_${name}`, { aliases: [] }, 'PATCH')
    expect([200, 404]).toContain(changed.status)
    const removed = await client(app, owner.key)(`/v1/members/user_${name}`, { method: 'DELETE' })
    expect([204, 404]).toContain(removed.status)
    expect(await findDifferences(database.sql, owner.orgId, USAGE_TABLES)).toEqual([])
  }
})

// without statistics, 5,000 sessions took minutes instead of seconds to be attached
test.skipIf(citusUrls.length > 0)(
  'the first pull requests of many sessions are counted by statistics of both',
  async () => {
    // who sends owns the tables, as by the program
    await using plain = await plainDatabase()
    const { key } = await newOrg(plain.sql, { scopes: ['write'] })
    const branchOf = (index: number) => `branch-${index % 500}`
    const created_at = '2026-06-02T10:00:00Z'
    const sessions = Array.from({ length: 2_000 }, (_none, index) => ({
      ...{ type: 'session', id: `sess_first_${index}`, project_name: 'checkout', created_at },
      ...{ turns: 1, branch: branchOf(index) },
    }))
    const pullRequests = Array.from({ length: 500 }, (_none, index) => ({
      ...{ ...pullRequest(), repo: 'acme/checkout', pr_number: 1 + index, created_at, project: 'checkout' },
      ...{ branch: branchOf(index), commits: [], state: 'open', merged_at: undefined },
    }))
    for (const records of [sessions.slice(0, 1_000), sessions.slice(1_000), pullRequests])
      expect(
        await (await client(testApp(plain.sql), key)('/v1/sync', jsonInit('POST', { records }))).json(),
      ).toMatchObject({
        created: records.length,
      })
    const analyzed = await plain.sql`
      select c.relname as name
      from pg_class c
      where c.oid = any(${['pr_risks', 'pr_sessions']}::regclass[])
        and c.reltuples >= 500
      order by 1`
    expect([...analyzed]).toEqual([{ name: 'pr_risks' }, { name: 'pr_sessions' }])
  },
)
