import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { SYSTEM } from '../../../src/accounts/audit-log/append.ts'
import { OperatorError } from '../../../src/base/errors.ts'
import { COMMIT_ROLLUP } from '../../../src/features/commits/rollup.ts'
import { OUTCOME_ROLLUP } from '../../../src/features/usage/outcome-rollup.ts'
import { renameProject } from '../../../src/server/sync/project-write.ts'
import { newOrg, repeatingClient, testApp } from '../../support/api.ts'
import { findDifferences, plainDatabase, testsDatabase } from '../../support/postgres.ts'
import { given } from '../../support/records.ts'
import { bodyOf, sync } from '../risk/requests.ts'

// After each of several rounds of random changes the sums are those that are computed from all rows, and every way to group
// them adds up to the same.

const RUNS = 10
const DAY_MS = 86_400_000
const TODAY = Math.floor(Date.now() / DAY_MS) * DAY_MS
const at = (daysAgo: number) => new Date(TODAY - daysAgo * DAY_MS).toISOString()

const database = await testsDatabase(plainDatabase)
const app = testApp(database.sql)

const REPOS = ['acme/shop', 'bob/shop', 'acme/pay']
const PEOPLE = ['ada@example.com', 'bob@example.com']
const PROJECTS = ['shop', 'pay', 'acme/shop']
const daysAgo = fc.integer({ min: 1, max: 60 })
const project = fc.constantFrom(...PROJECTS)
const person = fc.constantFrom(...PEOPLE)
const agent = fc.constantFrom('claude-code', 'codex')
const pullRequest = fc.record({ repo: fc.constantFrom(...REPOS), number: fc.integer({ min: 1, max: 3 }) })

const session = fc
  .record({
    id: fc.integer({ min: 0, max: 9 }),
    ...{ project, began: daysAgo, source: agent },
    cents: fc.integer({ min: 0, max: 999 }),
    branch: fc.constantFrom('fix', 'main'),
    links: fc.uniqueArray(pullRequest, { maxLength: 2, selector: ({ repo, number }) => `${repo} ${number}` }),
  })
  .map(({ id, project: name, began, source, cents, branch, links }) => ({
    ...{ type: 'session', id: `sess_${id}`, project_name: name, created_at: at(began), turns: 1, branch },
    ...{ source, estimated_cost: cents / 100, user_email: PEOPLE[id % 3] ?? null, pull_requests: links },
  }))
const risk = fc
  .record({
    ...{ pull: pullRequest, opened: daysAgo, project: fc.option(project), author: fc.option(person) },
    state: fc.constantFrom('open', 'merged', 'closed'),
    ended: fc.integer({ min: 0, max: 5 }),
    branch: fc.constantFrom('fix', 'other'),
  })
  .map(({ pull, opened, project: name, author, state, ended, branch }) =>
    given({
      ...{
        id: `risk_${pull.repo}_${pull.number}`.replaceAll('/', '_'),
        repo: pull.repo,
        pr_number: pull.number,
      },
      ...{ created_at: at(opened), project: name, author_email: author, state, branch },
      ...(state === 'open' ? {} : { [`${state}_at`]: at(Math.max(0, opened - ended)) }),
    }),
  )
const commit = fc
  .record({
    ...{ sha: fc.integer({ min: 0, max: 5 }), project, author: person, made: daysAgo },
    lines: fc.integer({ min: 0, max: 20 }),
    by: agent,
    survival: fc.uniqueArray(fc.constantFrom(14, 30)),
    isMain: fc.constantFrom(true, false, null),
    hasLines: fc.boolean(),
  })
  .map(({ sha, project: name, author, made, lines, by, survival, isMain, hasLines }) => ({
    ...{ type: 'commit', project: name, sha: `c${sha}`, author_email: author, author_name: 'A' },
    ...{ committed_at: at(made), files: [], on_default_branch: isMain },
    ...(hasLines
      ? {
          ai: {
            ...{ lines, effective_lines: lines + 3, by_agent: lines === 0 ? {} : { [by]: lines } },
            ...{ provenance: 'transcript', sessions: [] },
          },
          survival: survival.map((days) => ({ days, lines: Math.floor(lines / 2) })),
        }
      : {}),
  }))
const round = fc.record({
  records: fc.array(fc.oneof<fc.Arbitrary<object>[]>(session, risk, commit), { minLength: 1, maxLength: 12 }),
  renamed: fc.option(fc.tuple(project, project), { freq: 4 }),
})

const MEASURES = ['cost', 'linked_cost', 'commits', 'effective_lines', 'ai_lines'] as const
type Sums = Record<(typeof MEASURES)[number], number> & {
  pull_requests: Record<'open' | 'merged' | 'closed', number>
  survival: Record<'14' | '30', { lines: number; of: number }>
}
const cents = (dollars: number) => Math.round(dollars * 1e6)
const measured = ({ pull_requests: pulls, survival, ...sums }: Sums) => [
  ...[cents(sums.cost), cents(sums.linked_cost), sums.commits, sums.effective_lines, sums.ai_lines],
  ...[pulls.open, pulls.merged, pulls.closed],
  ...[survival[14].lines, survival[14].of, survival[30].lines, survival[30].of],
]

test('the sums are those of all rows, by every key and in every range', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(round, { minLength: 2, maxLength: 5 }), daysAgo, async (rounds, from) => {
      const { key, orgId } = await newOrg(database.sql)
      const ask = repeatingClient(app, key)
      for (const { records, renamed } of rounds) {
        await sync(ask, records)
        const [old, name] = renamed ?? []
        if (old !== undefined && name !== undefined && old !== name)
          await renameProject(database.sql, orgId, SYSTEM, { from: old, to: name }).catch(
            (error: unknown) => {
              if (!(error instanceof OperatorError)) throw error
            },
          )
        const tables = [OUTCOME_ROLLUP, COMMIT_ROLLUP]
        expect(await findDifferences(database.sql, orgId, tables)).toEqual([])
      }
      for (const range of ['', `&date_from=${at(from).slice(0, 10)}`]) {
        const pages = await Promise.all(
          ['month', 'week', 'project', 'repo', 'member'].map(
            async (by): Promise<{ data: Sums[]; total: Sums }> =>
              await bodyOf(await ask(`/v1/outcomes?by=${by}${range}`)),
          ),
        )
        const [first] = pages
        for (const { data, total } of pages) {
          expect(total).toEqual(first?.total ?? total)
          const added = data.map(measured).reduce(
            (sums, item) => sums.map((value, index) => value + (item[index] ?? 0)),
            measured(total).map(() => 0),
          )
          expect(added).toEqual(measured(total))
        }
      }
    }),
    { numRuns: RUNS },
  )
}, 360_000)
