import { describe, expect, test } from 'bun:test'
import { account, finding, session } from '../../server/erasure/account.ts'
import { client, jsonPost, newKey } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { commitRecord, memberRecord } from '../../support/records.ts'

const database = await testsDatabase()

const ADA = 'ada@example.com'
const HOME = 'ada@home.example'
const NOREPLY = '123+ada@users.noreply.github.com'

const member = (name: string, fields: object = {}) => memberRecord(name, fields)

const commit = (sha: string, author_email: string, day: number, paths: string[], status = 'modified') =>
  commitRecord(sha, {
    author_email,
    author_name: author_email,
    committed_at: `2026-03-${String(day).padStart(2, '0')}T10:00:00Z`,
    files: paths.map((path) => ({ path, additions: 3, deletions: 1, status })),
  })

/** Ada with three addresses owns all, Bob has one commit. */
const history = (addresses: readonly [string, string, string]) => [
  commit('c1', addresses[0], 1, ['src/a.ts', 'src/b.ts'], 'added'),
  commit('c2', addresses[1], 2, ['src/a.ts']),
  commit('c3', addresses[2], 3, ['src/b.ts', 'src/c.ts'], 'added'),
  commit('c4', addresses[1], 4, ['src/b.ts', 'src/c.ts']),
  commit('c5', 'bob@example.com', 5, ['src/d.ts', 'src/a.ts'], 'added'),
  commit('c6', addresses[2], 6, ['docs/e.md'], 'added'),
]
const sessions = (addresses: readonly [string, string, string]) => [
  session('a', '2026-11-20', { user_email: addresses[0], estimated_cost: 1, files_touched: ['src/a.ts'] }),
  session('b', '2026-11-20', { user_email: addresses[1], estimated_cost: 2, files_touched: ['src/b.ts'] }),
  session('c', '2026-11-20', { user_id: 'user_ada', estimated_cost: 4, files_touched: ['src/c.ts'] }),
]
const ONE = [ADA, ADA, ADA] as const
const THREE = [ADA, HOME, NOREPLY] as const

type Account = Awaited<ReturnType<typeof account>>

/** Reads every answer that counts people. */
const answers = async ({ get }: Account): Promise<unknown[]> => [
  await get('/v1/team/expertise'),
  await get('/v1/team'),
  await get('/v1/cost/breakdown?by=member'),
  await get('/v1/cost/breakdown?by=model&member=user_ada'),
  await get(`/v1/sessions?member=${ADA}`),
  (await get('/v1/sessions/sess_b')).user_id,
]

async function accountWith(records: object[], scopes?: string[]): Promise<Account> {
  const made = await account(database, scopes)
  await made.sync(records)
  return made
}

describe('a member with aliases', () => {
  const people = [member('ada'), member('bob')]
  const withAliases = member('ada', { aliases: [HOME.toUpperCase(), NOREPLY] })

  test('is one person: all answers are those of one address', async () => {
    const one = await accountWith([...people, ...history(ONE), ...sessions(ONE)])
    const expected = await answers(one)
    const three = await accountWith([withAliases, member('bob'), ...history(THREE), ...sessions(THREE)])
    expect(await answers(three)).toEqual(expected)
    expect(await three.doctor()).toContain('agree')
  })

  test('also one who gets them later, with no commit under the own address, and loses them again', async () => {
    const addresses = [HOME, NOREPLY, HOME] as const
    const mine = await accountWith([...people, ...history(addresses), ...sessions(addresses)])
    const apart = await answers(mine)
    const one = await accountWith([...people, ...history(ONE), ...sessions(ONE)])
    expect(await mine.sync([withAliases])).toMatchObject({ updated: 1 })
    expect(await answers(mine)).toEqual(await answers(one))
    expect(await answers(mine)).not.toEqual(apart)
    // commits that come while there are aliases
    const more = [commit('c7', HOME, 7, ['src/d.ts'])]
    await mine.sync(more)
    await one.sync([commit('c7', ADA, 7, ['src/d.ts'])])
    expect(await answers(mine)).toEqual(await answers(one))
    expect(await mine.sync([withAliases])).toMatchObject({ unchanged: 1 })
    expect(await mine.sync([member('ada')])).toMatchObject({ unchanged: 1 })
    expect(await mine.sync([member('ada', { aliases: [] })])).toMatchObject({ updated: 1 })
    const fresh = await accountWith([...people, ...history(addresses), ...sessions(addresses), ...more])
    expect(await answers(mine)).toEqual(await answers(fresh))
    expect(await mine.doctor()).toContain('agree')
  })

  test('has findings, limits and coverage of all addresses, and those of before again without them', async () => {
    const at = '2026-11-20T10:30:00Z'
    const resets_at = '2026-11-20T15:00:00Z'
    const windows = [{ limit: 'five_hour', used_percent: 100, hit: true, resets_at }]
    const call = { role: 'assistant', started_at: '2026-11-20T11:00:00Z', tokens: { output: 5 } }
    const records = [
      ...people,
      session('a', '2026-11-20', {
        user_email: ADA,
        turn_records: [call],
        source: 'claude-code',
        ended_at: call.started_at,
      }),
      session('b', '2026-11-20', { user_email: HOME, security_metadata: { findings: [finding('a.ts')] } }),
      { ...{ type: 'limit', vendor: 'anthropic', agent: 'claude-code', at, windows }, user_email: HOME },
    ]
    const mine = await accountWith(records, ['read', 'write', 'admin'])
    const list = async (path: string) => (await mine.get(path)).data as { member: unknown }[]
    const figures = async () => [
      (await list('/v1/findings?member=user_ada')).length,
      await list('/v1/seats?member=user_ada&date_from=2026-11-20&date_to=2026-11-20'),
      (await list('/v1/team/coverage')).length,
      (await list(`/v1/findings?member=${HOME}`))[0]?.member,
    ]
    const apart = await figures()
    expect(apart).toEqual([0, [], 2, { id: null, email: HOME }])
    await mine.sync([withAliases])
    // the call under the other address ended the wait
    const limits = [expect.objectContaining({ limit: 'five_hour', hits: 1, hours_blocked: 0.5 })]
    const seat = expect.objectContaining({ member: 'user_ada', limits })
    expect(await figures()).toEqual([1, [seat], 2, { id: 'user_ada', email: ADA }])
    expect(await mine.export()).toContain(`"user_email":"${HOME}"`)
    expect(await mine.doctor()).toContain('agree')
    await mine.sync([member('ada', { aliases: [] })])
    expect(await figures()).toEqual(apart)
    expect(await mine.doctor()).toContain('agree')
  })

  test('takes another address for the only one that has sessions', async () => {
    const mine = await accountWith([
      ...people,
      session('a', '2026-11-20', { user_email: HOME, estimated_cost: 1 }),
      session('b', '2026-11-20', { user_email: NOREPLY, estimated_cost: 2 }),
    ])
    const costs = async () => {
      const data = (await mine.get('/v1/cost/breakdown?by=member')).data as { key: string; cost: number }[]
      return Object.fromEntries(data.map(({ key, cost }) => [key, cost]))
    }
    await mine.sync([member('ada', { aliases: [HOME] })])
    expect(await costs()).toEqual({ user_ada: 1, [NOREPLY]: 2 })
    await mine.sync([member('ada', { aliases: [NOREPLY] })])
    expect(await costs()).toEqual({ user_ada: 2, [HOME]: 1 })
    expect(await mine.doctor()).toContain('agree')
  })

  test('an address belongs to one member', async () => {
    const mine = await accountWith([withAliases, member('bob')])
    const refused = async (records: object[], message: string) =>
      expect(mine.sync(records)).rejects.toMatchObject({
        code: 'VALIDATION_ERROR',
        message: expect.stringContaining(message),
      })
    await refused(
      [member('bob', { aliases: [HOME] })],
      'records[0].aliases[0]: is an alias of another member',
    )
    await refused([member('bob', { aliases: [ADA] })], 'records[0].aliases[0]: is the address of a member')
    await refused(
      [member('bob', { aliases: ['BOB@example.com'] })],
      'records[0].aliases[0]: is the address of a member',
    )
    await refused([member('new', { email: HOME })], 'records[0].email: is an alias of another member')
    await refused(
      [member('bob', { aliases: ['new@example.com'] }), member('new')],
      'records[0].aliases[0]: is the address of a member',
    )
    await refused([member('bob', { aliases: ['no address'] })], 'records[0].aliases[0]')
    // an alias that one member gives up in a batch another may take
    await mine.sync([member('ada', { aliases: [] }), member('bob', { aliases: [HOME] })])
    expect(await mine.export()).toContain(`"aliases":["${HOME}"]`)
  })

  test('sends sessions with any of them by the own key', async () => {
    const mine = await accountWith([withAliases, member('bob')])
    const key = await newKey(database.sql, mine.orgId, ['sessions:write'], HOME)
    const post = (user_email: string) =>
      client(mine.app, key)('/v1/sync', jsonPost({ records: [session('x', '2026-11-20', { user_email })] }))
    expect((await post('bob@example.com')).status).toBe(403)
    expect((await post(NOREPLY)).status).toBe(200)
    expect((await post(ADA)).status).toBe(200)
  })
})
