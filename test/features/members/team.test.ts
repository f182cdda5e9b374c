import { describe, expect, test } from 'bun:test'
import { DIRECTORIES } from '../../../src/features/sessions/rollup.ts'
import { newOrg, repeatingClient, testApp, writeTo } from '../../support/api.ts'
import { findDifferences, testsDatabase } from '../../support/postgres.ts'
import { commitRecord, memberRecord, sessionRecord } from '../../support/records.ts'

const NOW = new Date('2026-11-21T12:34:56.789Z')
const HOUR = 3_600_000

const database = await testsDatabase()

/** A new organization, and its API as functions. */
async function team({ scopes = ['read', 'write'] }: { scopes?: string[] } = {}) {
  const made = await newOrg(database.sql, { scopes })
  const ask = repeatingClient(testApp(database.sql, { now: () => NOW }), made.key)
  return {
    ...made,
    ask,
    get: async (path: string) => (await (await ask(path)).json()) as never,
    sync: (records: object[]) => writeTo(database.sql, made.orgId, records, { now: () => NOW }),
  }
}

const member = (name: string, joined: string) =>
  memberRecord(name, { display_name: name.toUpperCase(), joined_at: joined })

const session = (id: string, hoursAgo: number, fields: object = {}) =>
  sessionRecord(`sess_${id}`, {
    created_at: new Date(NOW.getTime() - hoursAgo * HOUR).toISOString(),
    ...fields,
  })

const commit = (sha: string, author: string, day: number, files: object[]) =>
  commitRecord(sha, {
    author_email: `${author}@example.com`,
    author_name: author,
    committed_at: `2026-03-${String(day).padStart(2, '0')}T10:00:00Z`,
    files: files.map((file) => ({ status: 'modified', additions: 3, deletions: 1, ...file })),
  })

describe('GET /v1/team', () => {
  test('members by joined_at, then id, and nobody else', async () => {
    const { sync, get } = await team()
    expect(await get('/v1/team')).toEqual({
      members: [],
      activity_summary: { sessions_last_7d: 0, active_members_last_7d: 0 },
    } as never)
    await sync([
      member('eve', '2026-02-01T00:00:00Z'),
      member('bob', '2026-01-01T00:00:00+01:00'),
      member('ada', '2026-02-01T00:00:00Z'),
    ])
    const { members } = (await get('/v1/team')) as { members: object[] }
    expect(members).toEqual([
      {
        id: 'user_bob',
        email: 'bob@example.com',
        display_name: 'BOB',
        role: 'developer',
        joined_at: '2025-12-31T23:00:00.000Z',
        team: null,
      },
      expect.objectContaining({ id: 'user_ada' }),
      expect.objectContaining({ id: 'user_eve' }),
    ])
  })

  test('activity is that of the 168 hours before now, to the millisecond', async () => {
    const { sync, get, orgId } = await team()
    const activity = async () => ((await get('/v1/team')) as { activity_summary: object }).activity_summary
    await sync([member('ada', '2026-01-01T00:00:00Z'), member('bob', '2026-01-01T00:00:00Z')])
    await sync([
      session('first', 168, { user_email: 'ADA@example.com' }),
      session('early', 168 + 1 / HOUR, { user_email: 'bob@example.com' }),
      session('now', 0, { user_id: 'user_ada' }),
      session('later', -1 / HOUR, { user_id: 'user_bob' }),
      session('whole', 100, { user_email: 'stranger@example.com' }),
      session('nobody', 30),
      session('part', 167.9),
    ])
    expect(await activity()).toEqual({ sessions_last_7d: 5, active_members_last_7d: 1 })
    // moved out of the range, into it, and to somebody else
    await sync([
      session('whole', 400, { user_email: 'stranger@example.com' }),
      session('early', 50, { user_email: 'bob@example.com' }),
    ])
    expect(await activity()).toEqual({ sessions_last_7d: 5, active_members_last_7d: 2 })
    await sync([member('stranger', '2026-05-01T00:00:00Z')])
    expect(await activity()).toEqual({ sessions_last_7d: 5, active_members_last_7d: 2 })
    await sync([session('part', 167.9, { user_email: 'stranger@example.com' })])
    expect(await activity()).toEqual({ sessions_last_7d: 5, active_members_last_7d: 3 })
    expect(await findDifferences(database.sql, orgId, [DIRECTORIES])).toEqual([])
  })
})

// Three files, worked out by hand (ln 2 = 0.6931, ln 3 = 1.0986, ln 4 = 1.3863, ln 5 = 1.6094):
//   src/pay.ts  Ada creates it and changes it twice, Bob once: 4 commits.
//     Ada 3.293 + 1.098 + 3·0.164 − 0.321·ln 2 = 4.6605  Bob 3.293 + 0.164 − 0.321·ln 4 = 3.0120  Bob's part 0.64628
//   src/cart.ts (src/basket.ts until Bob renamed it) Ada creates it, Bob renames and changes it: 3 commits.
//     Ada 3.293 + 1.098 + 0.164 − 0.321·ln 3 = 4.2023     Bob 3.293 + 2·0.164 − 0.321·ln 2 = 3.3985  Bob's part 0.80871
//   src/tax.ts  Eve creates it: 1 commit.  Eve 3.293 + 1.098 + 0.164 = 4.5550, her part 1
// Weights ln(1 + commits): 1.6094, 1.3863, 0.6931, in all 3.6889.
//   Ada (1.6094 + 1.3863) / 3.6889 = 81.21   Bob (0.64628·1.6094 + 0.80871·1.3863) / 3.6889 = 58.59   Eve 18.79
// Owners (0.75 or more): pay Ada; cart Ada and Bob; tax Eve. Ada goes: pay has none, 1 of 3. Bob goes: pay and cart, 2 of 3.
const HISTORY = [
  commit('c1', 'ada', 1, [
    { path: 'src/pay.ts', status: 'added' },
    { path: 'src/basket.ts', status: 'added' },
    { path: 'src/old.ts', status: 'added' },
  ]),
  commit('c2', 'ada', 2, [{ path: 'src/pay.ts' }]),
  commit('c3', 'bob', 3, [
    { path: 'src/pay.ts' },
    { path: 'src/cart.ts', status: 'renamed', previous_path: 'src/basket.ts' },
  ]),
  commit('c4', 'bob', 4, [{ path: 'src/cart.ts' }]),
  commit('c5', 'ada', 5, [{ path: 'src/pay.ts' }]),
  commit('c6', 'eve', 6, [
    { path: 'src/tax.ts', status: 'added' },
    { path: 'src/old.ts', status: 'deleted' },
  ]),
  commit('c7', 'dependabot[bot]', 7, [{ path: 'src/pay.ts' }, { path: 'package.json', status: 'added' }]),
  commit('c8', 'bob', 8, [{ path: 'README.md', status: 'added' }]),
]

describe('GET /v1/team/expertise', () => {
  test('three files against the formula, by hand', async () => {
    const { sync, get } = await team()
    expect(await get('/v1/team/expertise')).toEqual({ data: [], domains: [] } as never)
    await sync([member('bob', '2026-01-02T00:00:00Z'), member('ada', '2026-01-01T00:00:00Z'), ...HISTORY])
    await sync([
      session('a', 5, {
        user_email: 'ada@example.com',
        files_touched: ['src/pay.ts', 'src/x.ts', 'docs/y.md'],
      }),
      session('b', 5, { user_id: 'user_ada', files_touched: ['src/cart.ts', '/etc/hosts'] }),
      session('c', 5, { user_id: 'user_ada', project_name: 'other', files_touched: ['src/cart.ts'] }),
    ])
    const domain = (fields: object) => ({
      domain: 'shop/src',
      is_primary_owner: false,
      sessions: 0,
      ...fields,
    })
    expect(await get('/v1/team/expertise')).toEqual({
      data: [
        {
          user_id: 'user_ada',
          display_name: 'ADA',
          domains: [
            domain({
              score: 81.21,
              commits: 3,
              sessions: 2,
              files_owned: 2,
              ownership_percent: 66.67,
              is_primary_owner: true,
              last_active_at: '2026-03-05T10:00:00.000Z',
            }),
          ],
        },
        {
          user_id: 'user_bob',
          display_name: 'BOB',
          domains: [
            {
              domain: 'shop/.',
              score: 100,
              commits: 1,
              sessions: 0,
              files_owned: 1,
              ownership_percent: 100,
              is_primary_owner: true,
              last_active_at: '2026-03-08T10:00:00.000Z',
            },
            domain({
              score: 58.59,
              commits: 2,
              files_owned: 1,
              ownership_percent: 33.33,
              last_active_at: '2026-03-04T10:00:00.000Z',
            }),
          ],
        },
        {
          user_id: null,
          display_name: 'eve',
          domains: [
            domain({
              score: 18.79,
              commits: 1,
              files_owned: 1,
              ownership_percent: 33.33,
              last_active_at: '2026-03-06T10:00:00.000Z',
            }),
          ],
        },
      ],
      domains: [
        { domain: 'shop/.', files: 1, bus_factor: 1, primary_owner_id: 'user_bob' },
        { domain: 'shop/src', files: 3, bus_factor: 2, primary_owner_id: 'user_ada' },
      ],
    } as never)
  })

  test('an author who becomes a member gets the history, and a domain whose files are gone leaves', async () => {
    const { sync, get } = await team()
    await sync(HISTORY)
    await sync([member('eve', '2026-01-01T00:00:00Z')])
    const after = (await get('/v1/team/expertise')) as { data: { user_id: string }[]; domains: object[] }
    expect(after.data.map(({ user_id }) => user_id)).toEqual(['user_eve', null, null] as never)
    await sync([commit('c9', 'ada', 9, [{ path: 'README.md', status: 'deleted' }])])
    const left = (await get('/v1/team/expertise')) as { domains: { domain: string }[] }
    expect(left.domains.map(({ domain }) => domain)).toEqual(['shop/src'])
  })

  test('of a bare name is that of the files of this name, unless it is a file', async () => {
    const { sync, get } = await team()
    await sync([...HISTORY, commit('c9', 'eve', 9, [{ path: 'docs/repay.ts', status: 'added' }])])
    const of = (path: string) => get(`/v1/team/expertise?path=${path}`)
    expect(await of('pay.ts')).toEqual({
      ...((await of('src/pay.ts')) as object),
      files: ['src/pay.ts'],
    } as never)
    // root files, deleted ones and paths mean themselves
    for (const path of ['README.md', 'old.ts', 'src/pay.ts'])
      expect(await of(path)).not.toHaveProperty('files')
    await sync([commit('ca', 'bob', 10, [{ path: 'api/pay.ts', status: 'added' }])])
    expect(await of('./pay.ts')).toMatchObject({ files: ['api/pay.ts', 'src/pay.ts'] } as never)
  })

  test('the same commits again change nothing', async () => {
    const [one, _two] = [await team(), await team()]
    const records = [
      member('ada', '2026-01-01T00:00:00Z'),
      session('a', 5, { user_id: 'user_ada', files_touched: ['src/pay.ts'] }),
    ]
    const history = HISTORY.map((record) => ({ ...record, subject: 'Ünïcode “subject”' }))
    expect(await one.sync([...records, ...history])).toMatchObject({ created: 10, unchanged: 0 })
    expect(await one.sync([...records, ...history])).toMatchObject({ created: 0, updated: 0, unchanged: 10 })
  })

  test.each<[string, object]>([
    ['records[0].files[0].status', { files: [{ path: 'a', additions: 1, deletions: 0, status: 'gone' }] }],
    ['records[0].files[0].path', { files: [{ path: '', additions: 1, deletions: 0, status: 'added' }] }],
    [
      'records[0].files[0].path',
      { files: [{ path: 'é'.repeat(600), additions: 1, deletions: 0, status: 'added' }] },
    ],
    [
      'records[0].files[0].additions',
      { files: [{ path: 'a', additions: -1, deletions: 0, status: 'added' }] },
    ],
    ['records[0].sha', { sha: '' }],
    ['records[0].author_email', { author_email: 'ada' }],
    ['records[0].committed_at', { committed_at: 'yesterday' }],
    ['records[0].parents', { parents: [] }],
  ])('refuses a wrong %s', async (field, fields) => {
    const { sync } = await team()
    expect(sync([{ ...commit('c1', 'ada', 1, []), ...fields }])).rejects.toMatchObject({
      code: 'VALIDATION_ERROR',
      options: { details: [{ field }] },
    })
  })
})
