import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isBot } from '../../../src/analysis/scoring/ownership.ts'
import { commitPages, findKnownCommits } from '../../../src/features/commits/queries.ts'
import { getExpertise } from '../../../src/features/members/expertise-queries.ts'
import { writeRecords } from '../../../src/server/sync/write.ts'
import { noPrices } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { commitRecord } from '../../support/records.ts'
import { asOrganization } from '../../support/rls.ts'

let organizations = 0

/** Under row level security no index of commits serves the statements: thousands of them are written without. */
const syncMany = (orgId: string, records: unknown[]) =>
  writeRecords(
    { sql: database.sql, now: () => new Date(), storeContent: false, pricer: noPrices },
    orgId,
    records,
  )
const sync = (orgId: string, records: unknown[]) => asOrganization(orgId, () => syncMany(orgId, records))
const expertiseOf = (orgId: string) => asOrganization(orgId, () => getExpertise(database.sql, orgId, null))

async function organization(): Promise<string> {
  organizations += 1
  const id = `org_commits${organizations}`
  await database.sql`insert into organizations (org_id, slug, name, plan) values (${id}, ${id}, ${id}, 'cloud_team')`
  await database.sql`insert into org_locks (org_id) values (${id}) on conflict do nothing`
  return id
}

const database = await testsDatabase()

type File = { path: string; status: string; previous_path?: string; additions: number; deletions: number }
type Commit = ReturnType<typeof commit>
const commit = (sha: string, author: string, second: number, files: Partial<File>[]) =>
  commitRecord(sha, {
    author_email: `${author}@example.com`,
    committed_at: new Date(Date.UTC(2026, 0, 1) + second * 1000).toISOString(),
    files: files.map(
      (file): File => ({ path: '?', status: 'modified', additions: 1, deletions: 0, ...file }),
    ),
  })

/** Everything that is kept about files, as stored. */
async function stateOf(orgId: string) {
  const { sql } = database
  const files = await sql`
    select f.project, f.path, f.commits, f.additions, f.deletions, f.loc, f.creator_email, f.created_sha, f.first_at,
      f.last_at, f.last_sha, f.deleted
    from files f where f.org_id = ${orgId} order by f.project, f.path`
  const authors = await sql`
    select a.project, a.path, a.author_email, a.commits, a.last_at
    from file_authors a where a.org_id = ${orgId} order by a.project, a.path, a.author_email`
  const history = await sql`
    select f.project, f.sha, f.path, f.file from commit_files f where f.org_id = ${orgId} order by 1, 2, 3`
  const domains = await sql`
    select a.project, a.directory, a.author_email, a.commits, a.score, a.files_owned
    from expertise_authors a where a.org_id = ${orgId} order by 1, 2, 3`
  return { files: [...files], authors: [...authors], history: [...history], domains: [...domains] }
}

interface Bucket {
  entries: { file: File; commit: Commit }[]
  lives: boolean
}

/** The history told in order of time, name by name: what the statements must come to, thought of in another way. */
function tell(commits: readonly Commit[]): Map<string, Bucket> {
  const ordered = [...commits].sort((a, b) =>
    a.committed_at === b.committed_at ? (a.sha < b.sha ? -1 : 1) : a.committed_at < b.committed_at ? -1 : 1,
  )
  const buckets = new Map<string, Bucket>()
  for (const at of ordered) {
    const files = [...new Map(at.files.map((file) => [file.path, file])).values()]
    files.sort((a, b) => (a.path < b.path ? -1 : 1))
    const taken = files.flatMap((file) => {
      if (file.status !== 'renamed' || file.previous_path === undefined || file.previous_path === file.path)
        return []
      const bucket = buckets.get(file.previous_path)
      buckets.delete(file.previous_path)
      return bucket === undefined ? [] : [{ path: file.path, bucket }]
    })
    for (const { path, bucket } of taken) {
      const there = buckets.get(path)
      buckets.set(path, { lives: true, entries: [...(there?.entries ?? []), ...bucket.entries] })
    }
    for (const file of files) {
      const bucket = buckets.get(file.path) ?? { lives: true, entries: [] }
      bucket.entries.push({ file, commit: at })
      bucket.lives = file.status !== 'deleted'
      buckets.set(file.path, bucket)
    }
  }
  return buckets
}

function naiveFile({ entries }: Bucket) {
  const people = entries.filter(({ commit: at }) => !isBot(at.author_name, at.author_email))
  const adds = entries.filter(({ file }) => file.status === 'added')
  adds.sort((a, b) =>
    `${a.commit.committed_at} ${a.commit.sha}` < `${b.commit.committed_at} ${b.commit.sha}` ? -1 : 1,
  )
  const first = adds[0]?.commit
  const creator =
    first === undefined || isBot(first.author_name, first.author_email) ? null : first.author_email
  const own = new Map<string, number>()
  const shas = new Map(people.map(({ commit: at }) => [at.sha, at.author_email]))
  for (const email of shas.values()) own.set(email, (own.get(email) ?? 0) + 1)
  const degrees = [...own].map(([email, dl]) => ({
    email,
    degree: 3.293 + 1.098 * (email === creator ? 1 : 0) + 0.164 * dl - 0.321 * Math.log(1 + shas.size - dl),
  }))
  const greatest = Math.max(...degrees.map(({ degree }) => degree))
  return {
    revisions: shas.size,
    creator,
    degrees: degrees.map(({ email, degree }) => ({ email, part: degree / greatest })),
  }
}

function naiveDomains(commits: readonly Commit[]) {
  const living = [...tell(commits)].filter(([, bucket]) => bucket.lives)
  const directories = Map.groupBy(living, ([path]) => (path.includes('/') ? (path.split('/')[0] ?? '') : '.'))
  return [...directories].flatMap(([directory, members]) => {
    const files = members.map(([, bucket]) => naiveFile(bucket)).filter(({ revisions }) => revisions > 0)
    if (files.length === 0) return []
    const weights = files.reduce((sum, file) => sum + Math.log(1 + file.revisions), 0)
    const emails = [...new Set(files.flatMap((file) => file.degrees.map(({ email }) => email)))]
    const authors = emails.map((email) => {
      const parts = files.map((file) => file.degrees.find((degree) => degree.email === email)?.part ?? 0)
      const weighted = parts.reduce(
        (sum, part, index) => sum + part * Math.log(1 + (files[index]?.revisions ?? 0)),
        0,
      )
      return {
        email,
        score: (100 * weighted) / weights,
        owned: parts.flatMap((part, index) => (part >= 0.75 ? [index] : [])),
      }
    })
    authors.sort((a, b) => b.owned.length - a.owned.length || (a.email < b.email ? -1 : 1))
    let removed = 0
    const gone = new Set<string>()
    const without = () =>
      files.filter(
        (_, index) => !authors.some(({ email, owned }) => !gone.has(email) && owned.includes(index)),
      )
    while (2 * without().length <= files.length) gone.add(authors[removed++]?.email ?? '')
    return [{ directory, files: files.length, bus_factor: removed, authors }]
  })
}

// few names and few instants, so that renames chain, collide and come back
const PATHS = ['a', 'b', 'src/a', 'src/b', 'src/c', 'lib/a', 'lib/x/y']
const history = fc
  .array(
    fc.record({
      author: fc.constantFrom('ada', 'bob', 'eve', 'renovate[bot]'),
      second: fc.integer({ min: 0, max: 15 }),
      files: fc.array(
        fc.record({
          path: fc.constantFrom(...PATHS),
          status: fc.constantFrom('added', 'modified', 'modified', 'deleted', 'renamed', 'renamed'),
          from: fc.constantFrom(...PATHS),
          additions: fc.integer({ min: 0, max: 9 }),
        }),
        { minLength: 1, maxLength: 3 },
      ),
    }),
    { minLength: 1, maxLength: 25 },
  )
  .map((commits) =>
    commits.map(({ author, second, files }, index) =>
      commit(
        `c${String(index).padStart(2, '0')}`,
        author,
        second,
        files.map(({ from, ...file }) => ({
          ...file,
          status: file.status,
          ...(file.status === 'renamed' ? { previous_path: from } : {}),
        })),
      ),
    ),
  )

describe('commit history', () => {
  test('gives the same whatever the order and the batches, and what telling it in order gives', async () => {
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.integer(),
        fc.integer({ min: 1, max: 6 }),
        async (commits, seed, parts) => {
          const [once, shuffled] = [await organization(), await organization()]
          await sync(once, commits)
          const order = fc.sample(fc.shuffledSubarray(commits, { minLength: commits.length }), {
            seed,
            numRuns: 1,
          })[0]
          const size = Math.ceil(commits.length / parts)
          for (let start = 0; start < commits.length; start += size) {
            await sync(shuffled, order?.slice(start, start + size) ?? [])
          }
          const state = await stateOf(once)
          expect(await stateOf(shuffled)).toEqual(state)
          const expertise = await expertiseOf(once)
          expect(await expertiseOf(shuffled)).toEqual(expertise)
          const told = [...tell(commits)].filter(([, { entries }]) => entries.length > 0)
          expect(state.files.map((file) => [file.path, file.deleted]).sort()).toEqual(
            told.map(([path, { lives }]) => [path, !lives]).sort(),
          )
          const naive = naiveDomains(commits)
          expect(
            expertise.domains.map(({ domain, files, bus_factor }) => [domain, files, bus_factor]).sort(),
          ).toEqual(
            naive.map(({ directory, files, bus_factor }) => [`shop/${directory}`, files, bus_factor]).sort(),
          )
          for (const row of state.domains) {
            const wanted = naive
              .find(({ directory }) => directory === row.directory)
              ?.authors.find(({ email }) => email === row.author_email)
            expect(row.score === null).toBe(wanted === undefined)
            expect(Math.abs(Number(row.score) - (wanted?.score ?? 0))).toBeLessThan(0.00501)
            expect(row.files_owned).toBe(wanted?.owned.length ?? 0)
          }
        },
      ),
      { numRuns: Number(process.env.RUNS ?? 40) },
    )
  }, 360_000)

  test('a commit that is sent again with other files replaces what it was, its renames too', async () => {
    await fc.assert(
      fc.asyncProperty(history, history, async (commits, others) => {
        const [replaced, plain] = [await organization(), await organization()]
        const later = others.slice(0, Math.ceil(commits.length / 2))
        const kept = new Map([...commits, ...later].map((record) => [record.sha, record]))
        await sync(plain, [...kept.values()])
        await sync(replaced, commits)
        const answer = await sync(replaced, later)
        expect(answer.created + answer.updated + answer.unchanged).toBe(later.length)
        expect(await stateOf(replaced)).toEqual(await stateOf(plain))
      }),
      { numRuns: Number(process.env.RUNS ?? 25) },
    )
  }, 360_000)

  test('whether the default branch has a commit is known, and in the export', async () => {
    const orgId = await organization()
    const made = ['c1', 'c2', 'c3'].map((sha, second) => commit(sha, 'ada', second, [{ path: 'a' }]))
    const [first = {}, second = {}, third = {}] = made
    const told = [{ ...first, on_default_branch: false }, { ...second, on_default_branch: true }, third]
    expect(await sync(orgId, told)).toMatchObject({ created: 3 })
    const pages = await asOrganization(orgId, () =>
      Array.fromAsync(commitPages(database.sql, orgId, { size: 2 })),
    )
    expect(pages.flat() as object[]).toEqual(told.map((record) => ({ subject: null, ...record })))
    const known = await asOrganization(orgId, () => findKnownCommits(database.sql, orgId, 'shop'))
    expect(Object.fromEntries(known)).toEqual({ c1: false, c2: true, c3: true })
  })

  test('a file renamed 3,000 times has all of its history under the last name', async () => {
    const orgId = await organization()
    const renames = Array.from({ length: 3_000 }, (_, n) =>
      commit(n.toString(16).padStart(40, '0'), 'ada', n, [
        { path: `name-${n + 1}`, previous_path: `name-${n}`, status: 'renamed' },
      ]),
    )
    // followed one by one for each change, the chain took longer than a statement may
    await syncMany(orgId, renames)
    const files = await database.sql<{ file: string; changes: number }[]>`
      select f.file, count(*)::integer as changes
      from commit_files f
      where f.org_id = ${orgId}
      group by f.file`
    expect([...files]).toEqual([{ file: 'name-3000', changes: 3_000 }])
  })

  test('several writers at once give what one of them gives, in more commits than are written together', async () => {
    const kinds = ['modified', 'added', 'renamed', 'modified', 'deleted'] as const
    const path = (n: number) => `dir${n % 5}/f${n % 41}`
    const commits = Array.from({ length: 2_400 }, (_, n) => {
      const status = kinds[n % 7] ?? 'modified'
      const file = {
        path: path(n * 3),
        status,
        ...(status === 'renamed' ? { previous_path: path(n) } : {}),
      }
      return commit(`c${n}`, `dev${n % 19}`, n, [file, { path: `f${n % 90}` }])
    })
    const [once, together] = [await organization(), await organization()]
    await syncMany(once, commits)
    const batches = [0, 1, 2, 3, 4, 5].map((part) => commits.filter((_, n) => n % 6 === part))
    await Promise.all(batches.map((batch) => syncMany(together, batch)))
    expect(await stateOf(together)).toEqual(await stateOf(once))
    expect(await expertiseOf(together)).toEqual(await expertiseOf(once))
  }, 360_000)
})
