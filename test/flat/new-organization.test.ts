import { expect, test } from 'bun:test'
import type { Sql } from '../../src/database/client.ts'
import { COMMITS_AT_A_TIME } from '../../src/features/commits/write.ts'
import { createGate } from '../../src/http/queues/gate.ts'
import { createIntake } from '../../src/server/intake/intake.ts'
import { newOrg, type Org, testApp } from '../support/api.ts'
import { explainedPool } from '../support/explained.ts'
import { namesOf, storeWebhook } from '../support/isolation/records.ts'
import { pathsOf, readRoutes } from '../support/isolation/routes.ts'
import { plainDatabase, type TestDatabase } from '../support/postgres.ts'
import { commitRecord, memberRecord, pullRecord, sessionRecord } from '../support/records.ts'

// Statements on an organization that came after the last ANALYZE, of which PostgreSQL's statistics know nothing: none
// of all that the program sends does work that grows faster than the organization. The work of one organization is
// compared with that of another, four times as large.

const SMALL = 100
const TIMES = 4
/** Work in proportion to the data is 4 times as much, work in proportion to its square 16 times. */
const MOST = 8
/** Less work is not compared. */
const NOTABLE = 2_500
const DAY_MS = 86_400_000
const END = Date.parse('2025-11-14T12:00:00Z')

interface SyncedRecord {
  type: string
  [field: string]: unknown
}

/** Records of every type, in proportion to `size`. */
function recordsOf(size: number): SyncedRecord[] {
  const list = (count: number, make: (n: number) => SyncedRecord) =>
    Array.from({ length: count }, (_, n) => make(n))
  const at = (n: number, count: number) => new Date(END - ((count - n) / count) * 60 * DAY_MS).toISOString()
  const person = (n: number) => `dev${n % Math.ceil(size / 5)}@example.com`
  const file = (n: number) => `dir${n % 7}/file-${n}.ts`
  const findingOf = (n: number) => ({
    ...{ id: `finding_${n}`, severity: 'high', file: file(n) },
    ...{ created_at: at(n, size), fingerprint: `f${n % 40}` },
  })
  const commits = size * 3
  return [
    ...list(size / 5, (n) => memberRecord(`${n}`, { email: person(n), joined_at: at(0, 1) })),
    ...list(size, (n) =>
      sessionRecord(`sess_${n}`, {
        project_name: `project-${n % 3}`,
        created_at: at(n, size),
        user_email: person(n),
        turns: n % 9,
        estimated_cost: 1,
        quality_score: 80,
        files_touched: [file(n)],
        security_metadata: { findings: [findingOf(n)] },
      }),
    ),
    ...list(commits, (n) =>
      commitRecord(n.toString(16).padStart(40, '0'), {
        project: 'project-1',
        author_email: person(n * 7),
        committed_at: at(n, commits),
        files: [0, 1, 2].map((k) => ({
          path: file((n * (k + 1)) % size),
          status: n < size ? 'added' : 'modified',
          additions: 3,
          deletions: 1,
        })),
      }),
    ),
    // names that renames give to files, and the renames undone
    ...list(size / 5, (n) =>
      commitRecord(`e${n.toString(16).padStart(39, '0')}`, {
        project: 'project-1',
        author_email: person(n),
        committed_at: at(commits - 1, commits),
        files: [
          { path: `new/${n}.ts`, previous_path: file(n), status: 'renamed', additions: 0, deletions: 0 },
        ],
      }),
    ),
    ...list(size / 5, (n) =>
      pullRecord(n + 1, {
        files_changed: 2,
        created_at: at(n, size / 5),
        project: 'project-1',
        author_email: person(n),
        files: [0, 1].map((k) => ({ path: file(n + k), status: 'modified', additions: 3, deletions: 1 })),
      }),
    ),
    ...list(size, (n) => ({
      type: 'audit',
      id: `log_${n}`,
      action: 'user.login',
      user_id: `user_${n % 9}`,
      created_at: at(n, size),
    })),
    { type: 'budget', month: '2025-11', limit: 100 },
    {
      type: 'report',
      report_type: 'soc2',
      from: '2025-10-01',
      to: '2025-11-01',
      generated_at: '2025-11-02T00:00:00Z',
    },
  ]
}

/** Every statement is explained as it runs, so that a busy machine needs more than the time of a request. */
const LIMIT_MS = 60_000

const asked = (sql: Sql) => {
  const now = () => new Date(END)
  const pricer = async () => ({ cost: () => undefined, divided: () => undefined })
  const intake = createIntake({ sql, now, storeContent: false, pricer }, { maxProcessorMs: LIMIT_MS })
  const app = testApp(sql, {
    now,
    intake,
    gate: createGate({ untilWritingMs: LIMIT_MS }),
    checkResponses: false,
  })
  return {
    app,
    ask: (path: string, key: string, init: RequestInit = {}) =>
      app.handle(
        new Request(`http://localhost${path}`, {
          ...init,
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        }),
      ),
  }
}

async function sync(sql: Sql, { key }: Org, records: readonly object[]): Promise<void> {
  const response = await asked(sql).ask('/v1/sync', key, {
    method: 'POST',
    body: JSON.stringify({ records }),
  })
  expect(response.status, await response.text()).toBe(200)
}

/** The work of all statements of a new organization: its first records, the same again changed, and every read. */
async function workOf(database: TestDatabase, size: number): Promise<Map<string, number>> {
  const owner = await newOrg(database.sql, { plan: 'cloud_enterprise' })
  const names = {
    ...namesOf('new'),
    session: 'sess_1',
    project: 'project-1',
    repo: 'acme/shop',
    user: 'user_1',
  }
  await storeWebhook(database.sql, owner.orgId, names)
  const writes = await explainedPool(database, false)
  const records = recordsOf(size)
  await sync(writes.sql, owner, records)
  await sync(writes.sql, owner, records)
  const changed = records
    .filter(({ type }) => type === 'commit')
    .map((commit) => ({ ...commit, subject: 'again' }))
  await sync(writes.sql, owner, changed)
  await writes.sql.end()
  const reads = await explainedPool(database, true)
  const { app, ask } = asked(reads.sql)
  for (const route of readRoutes(app).filter(({ path }) => path.startsWith('/v1/')))
    for (const path of pathsOf(route, names, owner.keyId))
      expect((await ask(path, owner.key)).status, path).toBeLessThan(500)
  await reads.sql.end()
  return new Map([...writes.work, ...reads.work])
}

/** The pages that the statements of the first records look at, in a database without statistics. */
async function pagesOf(size: number): Promise<Map<string, number>> {
  const database = await plainDatabase()
  const writes = await explainedPool(database, false)
  await sync(writes.sql, await newOrg(database.sql), recordsOf(size))
  await writes.sql.end()
  await database.drop()
  return writes.pages
}

function fasterThan(small: ReadonlyMap<string, number>, large: ReadonlyMap<string, number>): string[] {
  return [...large].flatMap(([text, work]) => {
    const before = Math.max(small.get(text) ?? 0, NOTABLE / TIMES)
    return work > MOST * before ? [`${before}, then ${work}: ${text}`] : []
  })
}

test('no statement does work that grows faster than a new organization', async () => {
  const database = await plainDatabase()
  await sync(database.sql, await newOrg(database.sql), recordsOf(SMALL * TIMES * 2))
  await database.sql`analyze`
  const small = await workOf(database, SMALL)
  const large = await workOf(database, SMALL * TIMES)
  expect(large.size).toBeGreaterThan(60)
  expect(fasterThan(small, large)).toEqual([])
  await database.drop()
}, 360_000)

test('no statement of the first records of a database looks at pages that grow faster than the records', async () => {
  // the commits of the large one are fewer than are written at a time
  const size = Math.floor(COMMITS_AT_A_TIME / (4 * TIMES))
  const small = await pagesOf(size)
  const large = await pagesOf(size * TIMES)
  expect(large.size).toBeGreaterThan(40)
  expect(fasterThan(small, large)).toEqual([])
}, 360_000)
