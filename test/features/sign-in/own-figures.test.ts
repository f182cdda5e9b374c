import { describe, expect, test } from 'bun:test'
import { SYSTEM } from '../../../src/accounts/audit-log/append.ts'
import { createKey } from '../../../src/accounts/keys/queries.ts'
import { lookAtRules } from '../../../src/features/alerts/look-at-rules.ts'
import type { App } from '../../../src/server/app.ts'
import { client, jsonPost, newOrg, PLENTY, repeatingClient, testApp } from '../../support/api.ts'
import { namesOf, recordsOf } from '../../support/isolation/records.ts'
import { pathsOf, readRoutes, SHARED_PATHS } from '../../support/isolation/routes.ts'
import { silent, testsDatabase } from '../../support/postgres.ts'
import { type browser, signedIn } from './people.ts'

// `member_visibility: own`: a developer sees no figures of another's, by any route with any of its parameters, by a key or as a
// signed-in person. The organization's totals stay.

const NOW = new Date('2025-11-15T12:30:00.000Z')
/** Two developers who do the same at the same times, with other amounts. */
const WORDS = ['qonea', 'qtwob'] as const
type Word = (typeof WORDS)[number]
const TICKETS: Readonly<Record<Word, string>> = { qonea: 'QONEA-1', qtwob: 'QTWOB-2' }
const namesFor = (word: Word) => ({
  ...namesOf(word),
  user: '',
  // both work on the same project and pull request
  ...{ project: 'shop', directory: 'src', path: 'src/a.ts', repo: 'acme/shop', risk: 'risk_shop', pr: '17' },
})

const database = await testsDatabase()
const people = new Map<Word, Awaited<ReturnType<typeof signedIn>>>()
const keys = new Map<Word, string>()
const reads = readRoutes(testApp(undefined as never) as App).filter(({ path }) => path.startsWith('/v1/'))

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes, each compared with what is expected
const json = async (response: Response | Promise<Response>) => (await (await response).json()) as any

const { sql } = database
/** Keys and people are looked up again after a second of this clock. */
let keyMs = 0
const app = testApp(sql, { now: () => NOW, keyClock: () => keyMs, config: { rateLimits: PLENTY } })
const owner = await newOrg(sql, { scopes: ['read', 'write', 'audit:write', 'webhooks', 'admin'] })
const ask = client(app, owner.key)
for (const [index, word] of WORDS.entries()) {
  const email = `${word}@example.com`
  const person = await signedIn(app, sql, owner.orgId, email)
  people.set(word, person)
  const records = recordsOf({ ...namesFor(word), user: person.id }, index + 1).filter(({ type }) =>
    ['session', 'commit', 'pr_risk'].includes(type),
  )
  const stored = await ask('/v1/sync', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-machine': `laptop-${word}` },
    body: JSON.stringify({
      records: records.map((record) => ({
        ...record,
        ...(record.type === 'session' && {
          pull_requests: [{ repo: 'acme/shop', number: 17 }],
          ...(record.branch !== undefined && {
            // these tell who works on what
            ...{
              branch: `${word}/${TICKETS[word]}`,
              model: `model of ${word}`,
              source: `agent of ${word}`,
              effort: `effort of ${word}`,
              version: `version of ${word}`,
            },
            // priced: its parts are summed by model
            tokens: { input: 10 + index, output: 1, cache_read: 0, cache_creation: 0 },
          }),
        }),
      })),
    }),
  })
  expect([await stored.clone().text(), stored.status]).toEqual([expect.any(String), 200])
  const scopes = ['read', 'admin']
  const { key } = await createKey(sql, owner.orgId, { name: word, scopes, member: email }, SYSTEM)
  keys.set(word, key)
}
const set = await ask('/v1/organization', {
  method: 'PATCH',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ member_visibility: 'own' }),
})
expect(set.status).toBe(200)
keyMs += 1_000

const at = <Value>(map: Map<Word, Value>, word: Word): Value => {
  const value = map.get(word)
  if (value === undefined) throw new Error(word)
  return value
}

/** Members, keys and the audit log are shown to an admin; members without figures to all. */
const NAMES_ALL = /^\/v1\/(?:members|keys|audit|team$)/
/** Both ways in which a developer asks. */
const waysOf = (word: Word) => {
  const person: Awaited<ReturnType<typeof browser>> = at(people, word)
  const byKey = repeatingClient(app, at(keys, word))
  return { person: (path: string) => person.get(path), key: (path: string) => byKey(path) }
}

describe('a developer asks for everything', () => {
  for (const route of reads.filter(({ path }) => !NAMES_ALL.test(path) && !SHARED_PATHS.includes(path))) {
    test(route.path, async () => {
      for (const word of WORDS) {
        const other = word === WORDS[0] ? WORDS[1] : WORDS[0]
        const person = at(people, other)
        const telling = ['branch', 'ticket', 'model', 'agent'].flatMap((by) => [
          `${route.path}?by=${by}`,
          ...['day', 'project', 'member', 'branch', 'model'].flatMap((and_by) =>
            by === and_by
              ? []
              : [`${route.path}?by=${by}&and_by=${and_by}`, `${route.path}?by=${and_by}&and_by=${by}&top=1`],
          ),
          `${route.path}?by=${by}&compare=previous&sort=change&date_from=2025-11-10&date_to=2025-11-12`,
        ])
        const paths = pathsOf(route, { ...namesFor(other), user: person.id }, owner.keyId)
        for (const path of route.path.endsWith('/breakdown') ? [...paths, ...telling] : paths) {
          for (const [way, send] of Object.entries(waysOf(word))) {
            const answer = await send(path)
            const text = (await answer.text()).replaceAll(path, '').toLowerCase()
            expect([way, path, answer.status]).toEqual([way, path, expect.any(Number)])
            expect([200, 403, 404]).toContain(answer.status)
            if (path.includes('member=')) expect([path, answer.status]).toEqual([path, 403])
            if (answer.status === 200) {
              expect([way, path, text]).toEqual([way, path, expect.not.stringContaining(other)])
              expect([way, path, text]).toEqual([way, path, expect.not.stringContaining(person.id)])
            }
          }
        }
      }
    })
  }
})

test('their own figures are there, and what all did is summed', async () => {
  for (const word of WORDS) {
    const { id } = at(people, word)
    for (const send of Object.values(waysOf(word))) {
      const get = (path: string) => json(send(path))
      const sessions = await get('/v1/sessions')
      expect(sessions.pagination.total).toBe(3)
      expect((await get(`/v1/sessions/sess_${word}`)).user_id).toBe(id)
      expect((await get(`/v1/sessions?member=${word.toUpperCase()}@example.com`)).pagination.total).toBe(3)
      const total = await json(ask('/v1/cost'))
      expect(await get('/v1/cost')).toEqual(total)
      const all = await json(ask('/v1/cost/breakdown?by=member'))
      const parts = await get('/v1/cost/breakdown?by=member&sort=key&order=asc')
      expect(parts.data.map(({ key }: { key: string }) => key)).toEqual(['(others)', id])
      expect(parts.total).toEqual(all.total)
      const own = all.data.find(({ key }: { key: string }) => key === id)
      expect(parts.data[1]).toEqual(own)
      const risk = await get('/v1/risk/risk_shop')
      expect(risk.sessions.count).toBe(6)
      expect(risk.sessions.data).toHaveLength(3)
      expect((await get('/v1/security')).recent_sessions).toHaveLength(3)
      expect(
        (await get('/v1/team/machines')).data.map(({ machine }: { machine: string }) => machine),
      ).toEqual([`laptop-${word}`])
      const expertise = await get('/v1/team/expertise')
      expect(expertise.data.map(({ user_id }: { user_id: string }) => user_id)).toEqual([id])
    }
  }
})

test('names of branches, tickets, models and agents are their own, and the rest is summed', async () => {
  for (const word of WORDS) {
    const other = word === WORDS[0] ? WORDS[1] : WORDS[0]
    const nameOf = {
      branch: (who: Word) => `${who}/${TICKETS[who]}`,
      ticket: (who: Word) => TICKETS[who],
      model: (who: Word) => `model of ${who}`,
      agent: (who: Word) => `agent of ${who}`,
    }
    for (const send of Object.values(waysOf(word))) {
      const get = (path: string) => json(send(path))
      for (const [by, named] of Object.entries(nameOf)) {
        const path = `/v1/cost/breakdown?by=${by}&sort=key&order=asc`
        const [all, parts] = [await json(ask(path)), await get(path)]
        const item = ({ data }: { data: { key: string | null }[] }, key: string | null) =>
          data.find((one) => one.key === key)
        expect([by, parts.data.map(({ key }: { key: string }) => key)]).toEqual([
          by,
          ['(others)', named(word), null],
        ])
        expect(parts.total).toEqual(all.total)
        expect(item(parts, named(word))).toEqual(item(all, named(word)) as never)
        // each did 3 sessions, one of which has the name
        expect(parts.data.map(({ sessions }: { sessions: number }) => sessions)).toEqual([3, 1, 2])
        const cost = parts.data.reduce((sum: number, part: { cost: number }) => sum + part.cost, 0)
        expect(cost).toBeCloseTo(all.total.cost, 6)
        const filtered = await get(`/v1/cost/breakdown?by=project&${by}=${encodeURIComponent(named(other))}`)
        expect([by, filtered.total.sessions]).toEqual([by, 0])
        const own = await get(`/v1/cost/breakdown?by=project&${by}=${encodeURIComponent(named(word))}`)
        expect([by, own.total.sessions]).toEqual([by, 1])
      }
      for (const [list, name] of [
        ['projects', 'shop'],
        ['models', nameOf.model(word)],
        ['agents', nameOf.agent(word)],
      ]) {
        const { data } = await get(`/v1/${list}`)
        expect([list, data]).toEqual([
          list,
          [{ name, sessions: list === 'projects' ? 3 : 1, last_session_at: expect.any(String) }],
        ] as never)
      }
    }
  }
})

test('alerts by team, model and agent have the figures of a breakdown', async () => {
  const change = (method: string, path: string, body: object) =>
    ask(path, { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
  for (const word of WORDS)
    expect(
      (await change('PATCH', `/v1/members/${at(people, word).id}`, { team: `team of ${word}` })).status,
    ).toBe(200)
  const alert = { window: 'month', above: 0.000001, destinations: [{ type: 'webhook' }] }
  const add = async (fields: { scope?: object; each?: string; metric?: string }): Promise<string> =>
    (await json(change('POST', '/v1/alerts', { name: 'An alert', metric: 'cost', ...alert, ...fields }))).id
  const byTeam = await add({ each: 'team' })
  const findings = await add({ each: 'team', metric: 'findings' })
  const scopes = WORDS.flatMap((word) => [
    { model: `model of ${word}` },
    { agent: `agent of ${word}` },
    { team: `team of ${word}` },
  ])
  const scoped = await Promise.all(
    scopes.map(async (scope) => ({
      scope,
      id: await add({ scope }),
      each: await add({ scope, each: 'team' }),
    })),
  )
  await lookAtRules({ sql: database.sql, publicUrl: null, log: silent }, NOW)
  const month = 'date_from=2025-11-01&date_to=2025-11-30'
  const costs = ({ data }: { data: { key: string | null; cost: number }[] }) =>
    data.map(({ key, cost }) => [key, cost])
  const values = ({ keys: of }: { keys: { key: string | null; last_value: number }[] }) =>
    of.map(({ key, last_value }) => [key, last_value])
  for (const word of WORDS) {
    for (const send of Object.values(waysOf(word))) {
      const get = (path: string) => json(send(path))
      const own = await get(`/v1/alerts/${byTeam}`)
      expect(values(own)).toEqual(costs(await get(`/v1/cost/breakdown?by=team&sort=key&order=asc&${month}`)))
      expect(values(own).map(([key]) => key)).toEqual(['(others)', `team of ${word}`])
      // each has as many
      const [others, ofOwn] = values(await get(`/v1/alerts/${findings}`))
      expect(others?.[1]).toBe(ofOwn?.[1])
      const listed = await get('/v1/alerts')
      for (const { scope, id, each } of scoped) {
        const filtered = await get(`/v1/cost/breakdown?by=team&${new URLSearchParams(scope)}&${month}`)
        const one = await get(`/v1/alerts/${id}`)
        const isOwn = Object.values(scope)[0]?.endsWith(word)
        expect([scope, one.last_value, one.state]).toEqual([
          scope,
          filtered.total.cost,
          isOwn ? 'firing' : 'ok',
        ])
        expect(listed.data.find((item: { id: string }) => item.id === id)).toEqual({
          ...one,
          since: expect.any(String),
        })
        expect([scope, values(await get(`/v1/alerts/${each}`))]).toEqual([scope, costs(filtered)])
      }
    }
  }
  // who sees all sees both teams
  expect(values(await json(ask(`/v1/alerts/${byTeam}`))).map(([key]) => key)).toEqual(
    WORDS.map((word) => `team of ${word}`),
  )
})

test('sessions that were sent with an alias of theirs are their own', async () => {
  const alias = 'qonea@alias.test'
  const records = [
    {
      ...{ type: 'member', id: at(people, 'qonea').id, email: 'qonea@example.com', aliases: [alias] },
      ...{ display_name: 'Qonea', role: 'developer', joined_at: '2025-01-01T00:00:00Z' },
    },
    {
      ...{ type: 'session', id: 'sess_alias', project_name: 'shop', user_email: alias, turns: 1 },
      ...{
        created_at: '2025-11-14T00:00:00Z',
        tokens: { input: 0, output: 0, cache_read: 0, cache_creation: 0 },
      },
    },
  ]
  const sent = await ask('/v1/sync', jsonPost({ records }))
  expect([sent.status, await sent.text()]).toEqual([200, expect.any(String)])
  keyMs += 1_000
  for (const send of Object.values(waysOf('qonea'))) {
    expect((await send('/v1/sessions/sess_alias')).status).toBe(200)
    expect((await json(send('/v1/sessions'))).pagination.total).toBe(4)
  }
  for (const send of Object.values(waysOf('qtwob')))
    expect((await send('/v1/sessions/sess_alias')).status).toBe(404)
  expect((await ask('/v1/sessions/sess_alias', { method: 'DELETE' })).status).toBe(204)
})

test('others see all, and a developer who becomes an admin too', async () => {
  expect((await json(ask('/v1/sessions'))).pagination.total).toBe(6)
  const { id, get } = at(people, 'qonea')
  const raised = await ask(`/v1/members/${id}`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ role: 'admin' }),
  })
  expect(raised.status).toBe(200)
  keyMs += 1_000
  expect((await json(get('/v1/sessions'))).pagination.total).toBe(6)
})
