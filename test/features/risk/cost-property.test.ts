import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { newOrg, repeatingClient, testApp } from '../../support/api.ts'
import { plainDatabase, testsDatabase } from '../../support/postgres.ts'
import { given, sessionRecord } from '../../support/records.ts'
import { bodyOf, sync } from './requests.ts'

// Compares the cost of pull requests with a naive computation over all sessions and all pull requests.

const RUNS = 60
const DAY_MS = 86_400_000
/** The repository's name is the project of those without one, with its owner and without. */
const REPOS = ['acme/shop', 'Bob/shop', 'acme/pay'] as const
const PEOPLE = ['ada@example.com', 'ada@home.example', 'bob@example.com'] as const
const MEMBER = {
  ...{ type: 'member', id: 'user_ada', email: PEOPLE[0], aliases: [PEOPLE[1]], display_name: 'Ada' },
  ...{ role: 'developer', joined_at: '2026-01-01T00:00:00Z' },
}

const database = await testsDatabase(plainDatabase)
const app = testApp(database.sql)

// Times are every fifth day, and most branches and projects the same: many sessions fall on the limits of a range, and may be of
// several pull requests.
const day = fc.integer({ min: 0, max: 14 }).map((number) => 5 * number)
const days = fc.integer({ min: 0, max: 8 }).map((number) => 5 * number)
const branch = fc.oneof(
  { weight: 4, arbitrary: fc.constant('fix') },
  fc.constantFrom('main', 'master', 'trunk'),
)
const project = fc.oneof({ weight: 3, arbitrary: fc.constant('shop') }, fc.constantFrom('acme/shop', 'pay'))
const maybe = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { freq: 2 })

const pullArbitrary = fc.record({
  repo: fc.constantFrom(...REPOS),
  number: fc.integer({ min: 1, max: 12 }),
  opened: day,
  open: maybe(days),
  project: maybe(project),
  branch: maybe(branch),
  defaultBranch: fc.option(fc.constantFrom('main', 'trunk', 'fix'), { freq: 1 }),
  commits: fc.uniqueArray(fc.integer({ min: 0, max: 2 }), { maxLength: 2 }),
})
const link = fc.tuple(fc.constantFrom(...REPOS), fc.integer({ min: 1, max: 12 }))
const sessionArbitrary = fc.record({
  project,
  began: day,
  lasted: maybe(days),
  branch: maybe(branch),
  user: fc.constantFrom(...PEOPLE, null),
  micros: fc.oneof(fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 5e8 })),
  links: fc.oneof(
    { weight: 4, arbitrary: fc.array(link, { maxLength: 0 }) },
    fc.array(link, { maxLength: 4 }),
  ),
})
const commitArbitrary = fc.record({
  project,
  sha: fc.integer({ min: 0, max: 2 }),
  author: fc.constantFrom(...PEOPLE),
  at: day,
})
const world = fc.record({
  pulls: fc.uniqueArray(pullArbitrary, {
    minLength: 3,
    maxLength: 10,
    selector: ({ repo, number }) => `${repo} ${number}`,
  }),
  sessions: fc.array(sessionArbitrary, { minLength: 20, maxLength: 40 }),
  commits: fc.uniqueArray(commitArbitrary, {
    maxLength: 6,
    selector: ({ project, sha }) => `${project} ${sha}`,
  }),
})
type World = typeof world extends fc.Arbitrary<infer Value> ? Value : never
type Pull = World['pulls'][number]
type Session = World['sessions'][number]

const projectsOf = ({ project, repo }: Pull): string[] =>
  project === null ? [repo, repo.slice(repo.indexOf('/') + 1)] : [project]
const personOf = (address: string | null) => (address === PEOPLE[1] ? PEOPLE[0] : address)
const ascending = (a: Pull, b: Pull) => (a.repo === b.repo ? a.number - b.number : a.repo < b.repo ? -1 : 1)

/** Finds the pull requests of the session by link and commit. */
const namedBy = (session: Session, { pulls, commits }: World): Pull[] =>
  pulls.filter((pull) => {
    const isLinked = session.links.some(([repo, number]) => repo === pull.repo && number === pull.number)
    const { began, lasted } = session
    const hasCommit = commits.some(
      ({ project, sha, author, at }) =>
        pull.commits.includes(sha) &&
        projectsOf(pull).includes(project) &&
        project === session.project &&
        personOf(author) === personOf(session.user) &&
        lasted !== null &&
        began <= at &&
        at <= began + Math.min(lasted, 30),
    )
    return isLinked || hasCommit
  })

/** Finds the pull request of the session by its branch. */
function takenBy({ branch, project, began }: Session, { pulls }: World): Pull | undefined {
  const possible = pulls.filter((pull) => {
    const defaults = pull.defaultBranch === null ? ['main', 'master'] : [pull.defaultBranch]
    const end = pull.open === null ? Number.POSITIVE_INFINITY : pull.opened + pull.open
    return (
      branch !== null &&
      pull.branch === branch &&
      !defaults.includes(branch) &&
      projectsOf(pull).includes(project) &&
      began >= pull.opened - 30 &&
      began < end
    )
  })
  const open = possible.filter(({ opened }) => opened <= began)
  const nearest = open.length > 0 ? open.toSorted(latest) : possible.toSorted((a, b) => -latest(a, b))
  const opened = nearest[0]?.opened
  return nearest.filter((pull) => pull.opened === opened).toSorted(ascending)[0]
}
const latest = (a: Pull, b: Pull) => b.opened - a.opened

/** The parts of each session in micro-dollars, by pull request. */
function expectedParts(all: World): Map<Pull, Map<string, bigint>> {
  const parts = new Map(all.pulls.map((pull) => [pull, new Map<string, bigint>()]))
  for (const [index, session] of all.sessions.entries()) {
    const named = namedBy(session, all).toSorted(ascending)
    const taken = named.length > 0 ? undefined : takenBy(session, all)
    const owners = taken === undefined ? named : [taken]
    const each = owners.length === 0 ? 0n : BigInt(session.micros) / BigInt(owners.length)
    let rest = BigInt(session.micros)
    for (const [nth, pull] of owners.entries()) {
      const part = nth === owners.length - 1 ? rest : each
      rest -= part
      parts.get(pull)?.set(`sess_${index}`, part)
    }
  }
  return parts
}

const at = (dayNumber: number) => new Date(Date.UTC(2026, 2, 1) + dayNumber * DAY_MS).toISOString()
const idOf = (index: number) => `risk_${index}`

const recordsOf = ({ pulls, sessions, commits }: World): object[] => [
  MEMBER,
  ...commits.map(({ project, sha, author, at: time }) => ({
    ...{ type: 'commit', project, sha: `c${sha}`, author_email: author, author_name: 'A' },
    ...{ committed_at: at(time), files: [] },
  })),
  ...pulls.map(({ repo, number, opened, open, project, branch, defaultBranch, commits }, index) =>
    given({
      ...{ id: idOf(index), repo, pr_number: number, created_at: at(opened), project, branch },
      default_branch: defaultBranch,
      commits: commits.map((sha) => `c${sha}`),
      ...(open === null ? {} : { state: 'merged', merged_at: at(opened + open) }),
    }),
  ),
  ...sessions.map(({ project, began, lasted, branch, user, micros, links }, index) => ({
    ...sessionRecord(`sess_${index}`, { project_name: project, created_at: at(began), branch, turns: 1 }),
    ...{ estimated_cost: micros / 1e6, user_email: user },
    ended_at: lasted === null ? null : at(began + lasted),
    pull_requests: links.map(([repo, number]) => ({ repo, number })),
  })),
]

const micros = (dollars: number): bigint => BigInt(Math.round(dollars * 1e6))
const sum = (values: Iterable<bigint>): bigint => [...values].reduce((total, value) => total + value, 0n)

interface Found {
  count: number
  cost: number
  data: { id: string; estimated_cost: number; part: number }[]
}

test('parts are those of a naive computation, and their sum is never more than the cost of the sessions', async () => {
  await fc.assert(
    fc.asyncProperty(world, async (all) => {
      const ask = repeatingClient(app, (await newOrg(database.sql)).key)
      await sync(ask, recordsOf(all))
      const expected = expectedParts(all)
      const partsById = new Map<string, bigint[]>()
      let total = 0n
      for (const [index, pull] of all.pulls.entries()) {
        const found: Found = (await bodyOf(await ask(`/v1/risk/${idOf(index)}`))).sessions
        const parts = new Map(found.data.map(({ id, part }) => [id, micros(part)]))
        const wanted = expected.get(pull) ?? new Map()
        expect(Object.fromEntries(parts)).toEqual(Object.fromEntries(wanted))
        expect([found.count, micros(found.cost)]).toEqual([wanted.size, sum(wanted.values())])
        for (const [id, part] of parts) partsById.set(id, [...(partsById.get(id) ?? []), part])
        total += micros(found.cost)
      }
      for (const [id, parts] of partsById)
        expect(sum(parts)).toBe(BigInt(all.sessions[Number(id.slice('sess_'.length))]?.micros ?? -1))
      expect(total <= sum(all.sessions.map((session) => BigInt(session.micros)))).toBe(true)
    }),
    { numRuns: RUNS },
  )
}, 360_000)
