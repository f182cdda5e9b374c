import { describe, expect, test } from 'bun:test'
import { SYSTEM } from '../../src/accounts/audit-log/append.ts'
import { RECORD_SCHEMAS } from '../../src/analysis/records/records.ts'
import { inOrganization } from '../../src/database/org-lock.ts'
import { badgeChange } from '../../src/features/badges/settings.ts'
import { replaceBadgeToken, updateOrganization } from '../../src/features/organization/queries.ts'
import type { App } from '../../src/server/app.ts'
import { client, jsonInit, newOrg, type Org, PLENTY, testApp } from '../support/api.ts'
import { changesOf, type Names, namesOf, recordsOf, storeWebhook } from '../support/isolation/records.ts'
import {
  BADGE_PARAMETERS,
  BADGES,
  CHANGES,
  changeOf,
  declaredRoutes,
  nameOf,
  PARAMETERS,
  PLAIN_ROUTES,
  PUBLIC_ROUTES,
  pathOf,
  pathsOf,
  plainRoutes,
  readRoutes,
  SHARED_PATHS,
  v1Routes,
  valuesIn,
} from '../support/isolation/routes.ts'
import { plainDatabase, testsDatabase } from '../support/postgres.ts'

// Nothing that an organization holds shows in what another one is answered, and a value of another organization is
// answered as one that nobody has. Holds for every route: those that read are taken from their declarations; a new one that
// changes something fails here until it is in CHANGES, a new parameter until it is in PARAMETERS, a new kind of record until
// recordsOf has it.

const NOW = new Date('2025-11-15T12:30:00.000Z')
const V1 = /^(\/api)?\/v1\//
const SCOPES = ['read', 'write', 'audit:write', 'webhooks', 'admin']
const EMPTY_SLUG = 'nobody-has-this'

const MINE = namesOf('mmmm')
// Times without anything of mine around, and after all of it in every order.
const THEIRS = namesOf('tttt', { day: '2025-11-12', micros: '123456', pr: '7001' })
const RANDOM = namesOf('uuuu', { day: '2025-11-13', micros: '654321', pr: '7002' })

/** An instance that remembers nothing; each leases a part of the minute's requests anew. */
const freshApp = (): App => testApp(database.sql, { now: () => NOW, config: { rateLimits: PLENTY } })
const post = ({ key }: Org, records: unknown[]) =>
  client(app, key)('/v1/sync', jsonInit('POST', { records }, { 'x-machine': 'laptop' }))

/** The service's own audit entries have random ids, in which a word may occur; budgets have those of a hash of what they are of. */
const RANDOM_ID = /(?:log|budget)_[0-9a-z]{20}/g

/** All of an answer but what is of this request alone. `words`: what may differ, made the same. */
async function answerOf(answer: Response, words: string[] = []): Promise<string> {
  // 403: only a member has an arm of days that were assigned
  expect([200, 304, 308, 400, 403, 404]).toContain(answer.status)
  const text = (await answer.text()).replace(RANDOM_ID, (id) => (words.includes(id) ? id : 'id'))
  const alike = (part: string) => words.reduce((rest, word) => rest.replaceAll(word, '¤'), part)
  const headers = [...answer.headers].filter(
    ([name]) =>
      !/^(x-request-id|x-ratelimit-.*|date)$/.test(name) && !(name === 'etag' && alike(text) !== text),
  )
  const body = text.replace(/"request_id":"[^"]*"/, '"request_id":""')
  return alike(`${answer.status}\n${JSON.stringify(headers.sort())}\n${body}`)
}

/** Returns the organization's answers to every read, asked for as `pathsOf` says. */
async function allAnswers({ key, keyId }: Org, names: Names, asking: App, asked = pathsOf) {
  const ask = client(asking, key)
  const answers = new Map<string, Response>()
  for (const route of readRoutes(app)) {
    for (const path of asked(route, names, keyId)) answers.set(path, await ask(path))
  }
  return answers
}

/** The same as texts. */
async function allTexts(own: Org, names: Names): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  for (const [path, answer] of await allAnswers(own, names, freshApp()))
    texts.set(path, await answerOf(answer))
  return texts
}

/** All that the organization has, plainly asked for below /v1, of the instance that all others ask too. */
const everything = (own: Org, names: Names) =>
  allAnswers(own, names, app, (route) =>
    route.path.startsWith('/v1/') ? [pathOf(route, undefined, '', names, own.keyId)] : [],
  )

/** Every row of the organization, in every table. */
async function rowsOf({ orgId }: Org): Promise<Record<string, string>> {
  const { sql } = database
  const tables = await sql<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where table_schema = 'public' and column_name = 'org_id' and table_name not in ('rate_windows', 'api_keys')`
  // one statement for all
  const found = await sql.unsafe<{ name: string; rows: string }[]>(
    tables
      .map(
        ({ name }) => `
      select '${name}' as name, coalesce(string_agg(t::text, e'\\n' order by t::text), '') as rows
      from "${name}" t where t.org_id = $1`,
      )
      .join(' union all '),
    [orgId],
    { prepare: true },
  )
  return Object.fromEntries(found.map(({ name, rows }) => [name, rows]))
}

const changeBadges = async (slug: string, options: Record<string, string>) => {
  const badges = badgeChange(options)
  const { id } = await updateOrganization(database.sql, slug, badges === undefined ? {} : { badges })
  if (options.badgeToken !== 'new') return ''
  return await inOrganization(database.sql, id, (tx) => replaceBadgeToken(tx, id, SYSTEM))
}

const database = await testsDatabase(plainDatabase)
const mine = await newOrg(database.sql, { scopes: SCOPES })
const theirs = await newOrg(database.sql, { scopes: SCOPES })
const app = freshApp()
expect(await (await post(mine, recordsOf(MINE))).json()).toMatchObject({ created: 17 })
await storeWebhook(database.sql, mine.orgId, MINE)
const before = await allTexts(mine, MINE)
// The other one holds the same things by the same names, with other amounts, and more of its own.
for (const names of [MINE, THEIRS]) {
  expect(await (await post(theirs, recordsOf(names, 3))).json()).toMatchObject({ received: 17 })
  await storeWebhook(database.sql, theirs.orgId, names, 3)
}

test('every route, parameter and kind of record is covered', () => {
  const [declared, plain] = [declaredRoutes(app), plainRoutes(app)]
  const changes = v1Routes(app).filter(({ method }) => method !== 'GET')
  expect(changes.map((route) => nameOf(route).replace(' /v1/', ' /')).sort()).toEqual(
    Object.keys(CHANGES).sort(),
  )
  expect(plain.map(nameOf).sort()).toEqual([...PLAIN_ROUTES].sort())
  // nothing is served below /v1 that needs no key, and all of it is served below /api/v1, too
  expect([...declared, ...plain].map(nameOf).sort()).toEqual(app.routes.map(nameOf).sort())
  const twins = declared.flatMap((route) =>
    route.path.startsWith('/api/') ? nameOf(route).replace('/api', '') : [],
  )
  expect(twins.sort()).toEqual(v1Routes(app).map(nameOf).sort())
  // the code of a machine that waits is looked up by a cookie: test/features/sign-in
  const known = new Set([...Object.keys(PARAMETERS), ...BADGE_PARAMETERS, 'org_slug', 'user_code'])
  const parameters = [...declared, ...plain].flatMap((route) => route.parameters)
  expect(parameters.filter((name) => !known.has(name))).toEqual([])
  expect([...new Set(recordsOf(MINE).map(({ type }) => type))].sort()).toEqual(
    Object.keys(RECORD_SCHEMAS).sort(),
  )
})

test('what one organization holds changes no answer of another', async () => {
  const after = await allTexts(mine, MINE)
  expect([...after.keys()]).toEqual([...before.keys()])
  for (const [path, answer] of after) expect([path, answer]).toEqual([path, before.get(path) ?? ''])
  // the comparison had something to see
  const seen = await allTexts(theirs, MINE)
  const same = [...after].filter(
    ([path, answer]) => !path.includes('?') && !SHARED_PATHS.includes(path) && seen.get(path) === answer,
  )
  expect(same.map(([path]) => path)).toEqual([])
})

describe('a value of another organization is answered as one that nobody has', () => {
  const routes = declaredRoutes(testApp(undefined as never))
  for (const route of routes.filter(({ method }) => method === 'GET')) {
    for (const parameter of route.parameters) {
      const values = valuesIn(route.path, parameter)
      if (typeof values !== 'function') continue
      test(`${route.method} ${route.path}: ${parameter}`, async () => {
        const ask = client(app, mine.key)
        const foreign = values(THEIRS, theirs.keyId)
        const random = values(RANDOM, 'zzzzzzzz')
        for (const [index, value] of foreign.entries()) {
          const other = random[index] ?? ''
          const [asked, wanted] = [
            pathOf(route, parameter, value, MINE),
            pathOf(route, parameter, other, MINE),
          ]
          const words = (text: string) => [text, encodeURIComponent(text), text.slice(0, 10)]
          const answer = await answerOf(await ask(asked), words(value))
          expect(answer).toBe(await answerOf(await ask(wanted), words(other)))
          // its owner is answered otherwise
          const owner = client(app, theirs.key)
          // all names of the rest of the path are of its owner, too
          const owned = asked.replaceAll(/(?<=(hook|dlv|alert|digest)_)mmmm/g, 'tttt')
          expect(await answerOf(await owner(owned), words(value))).not.toBe(answer)
        }
      })
    }
  }

  const changes = routes.filter(({ method, path }) => method !== 'GET' && path.includes(':'))
  for (const route of changes) {
    for (const parameter of route.parameters.filter((name) => route.path.includes(`:${name}`))) {
      test(`${route.method} ${route.path}: ${parameter}, and nothing of theirs is changed`, async () => {
        const values = valuesIn(route.path, parameter)
        // a value without a name of its own, as a month, is tested with its feature
        if (values === undefined) throw new Error('is not in PARAMETERS')
        if (typeof values !== 'function') return
        const [before, own] = [await rowsOf(theirs), await rowsOf(mine)]
        const init = changeOf(`${route.method} ${route.path.replace(V1, '/')}`)
        const answers: string[] = []
        for (const names of [THEIRS, RANDOM]) {
          const [value = ''] = values(names, theirs.keyId)
          const answer = await client(app, mine.key)(pathOf(route, parameter, value, MINE), init)
          expect(answer.status).toBe(404)
          answers.push(await answerOf(answer))
        }
        expect(answers[0]).toBe(answers[1] ?? '')
        expect([await rowsOf(theirs), await rowsOf(mine)]).toEqual([before, own])
      })
    }
  }

  test("another organization's ETag", async () => {
    for (const path of ['/v1/sessions', `/v1/sessions/${THEIRS.session}`]) {
      const etag = (await client(app, theirs.key)(path)).headers.get('etag') ?? ''
      expect(etag).not.toBe('')
      const [given, random] = await Promise.all(
        [etag, '"nobody"'].map(async (value) =>
          answerOf(await client(app, mine.key)(path, { headers: { 'if-none-match': value } })),
        ),
      )
      expect(given).toBe(random ?? '')
    }
  })

  const OWN = namesOf('aaaa')
  // the ids have one day: series show every day
  const nobodys = { ...RANDOM, at: THEIRS.at.replace('123456', '654321') }
  for (const field of Object.keys(OWN) as (keyof Names)[]) {
    if (field === 'day') continue
    test(`a record that has it as its ${field}`, async () => {
      const rows = await rowsOf(theirs)
      const answers = []
      for (const names of [THEIRS, nobodys]) {
        const own = await newOrg(database.sql, { scopes: SCOPES })
        const named = { ...OWN, [field]: names[field] }
        const written = await post(own, recordsOf(named))
        const given = [names.at, `"pr_number":${names.pr}`, names === THEIRS ? 'tttt' : 'uuuu']
        const words = [own.keyId, own.orgId, `"${own.slug}"`, ...given]
        const changed = await post(own, changesOf(named))
        const told = [written, changed, ...(await everything(own, named)).values()]
        answers.push(await Promise.all(told.map(async (one) => unnumbered(await answerOf(one, words)))))
      }
      expect(answers[0]).toEqual(answers[1] ?? [])
      expect(await rowsOf(theirs)).toEqual(rows)
    })
  }
})

/** The service's own audit entries have the database's time. */
const unnumbered = (answer: string): string =>
  answer
    .replace(/\d{4}-\d\d-\d\dT[\d:]+\.\d{6}Z/g, 'time')
    .replace(/"generated_at":"[^"]*"/, '')
    // times of API keys
    .replace(/"(created_at|last_used_at)":"[^"]*"(?=,"(created_by|expires_at|last_used_at|revoked_at)")/g, '')
    .replace(/\["etag","[^"]*"\],?/, '')

describe('badges', () => {
  for (const badge of BADGES) {
    test(badge, async () => {
      const ask = client(freshApp())
      const said = async (path: string, words: string[] = []) => await answerOf(await ask(path), words)
      const at = (slug: string, query = '') => `/api/badge/${slug}/${badge}${query}`
      const token = await changeBadges(theirs.slug, { badges: 'private', badgeToken: 'new' })
      await changeBadges(mine.slug, { badges: 'private', badgeToken: 'new' })
      const unknown = await said(at(EMPTY_SLUG))
      expect(unknown).toContain('unknown')
      for (const query of ['', `?project=${THEIRS.project}`, '?token=badge_nothing', '?days=365'])
        expect(await said(at(theirs.slug, query))).toBe(unknown)
      expect(await said(at(mine.slug, `?token=${token}`))).toBe(unknown)
      expect(await said(at(theirs.slug, `?token=${token}`))).not.toBe(unknown)
      await changeBadges(mine.slug, { badges: 'public' })
      // the ids of an image, and hence its ETag, come from its address alone
      const shown = async (project: string) =>
        (await said(at(mine.slug, `?project=${project}`)))
          .replace(/(["#])(s|r|blur)[0-9a-z]{9,}/g, '$1$2')
          .replace(/\["etag",[^\]]*\],/, '')
      expect(await shown(THEIRS.project)).toBe(await shown(RANDOM.project))
      expect(await said(at(mine.slug))).not.toBe(unknown)
    })
  }
})

test('requests of one organization are not counted for another', async () => {
  const app = testApp(database.sql, { windowClock: () => NOW })
  const remaining = async ({ key }: Org) =>
    Number((await client(app, key)('/v1/team')).headers.get('x-ratelimit-remaining'))
  const one = await newOrg(database.sql)
  const two = await newOrg(database.sql)
  const first = await remaining(one)
  for (let count = 0; count < 200; count += 1) await remaining(two)
  expect(await remaining(one)).toBe(first - 1)
})

test('public answers are the same for everyone', async () => {
  for (const path of PUBLIC_ROUTES) {
    const [none, ...others] = await Promise.all(
      [undefined, mine.key, theirs.key].map(async (key) => answerOf(await client(app, key)(path))),
    )
    for (const other of others) expect(other).toBe(none ?? '')
  }
})
