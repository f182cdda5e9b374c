import { describe, expect, test } from 'bun:test'
import { createKey } from '../../src/accounts/keys/queries.ts'
import { SCOPES } from '../../src/accounts/keys/scopes.ts'
import { updateOrganization } from '../../src/features/organization/queries.ts'
import { client, newOrg, type Org, PLENTY, repeatingClient, testApp } from '../support/api.ts'
import { namesOf, recordsOf, storeWebhook } from '../support/isolation/records.ts'
import {
  changeOf,
  isStream,
  nameOf,
  PARAMETERS,
  pathOf,
  pathsOf,
  type Route,
  SHARED_PATHS,
  v1Routes,
} from '../support/isolation/routes.ts'
import { testsDatabase } from '../support/postgres.ts'

// No route names a member to a key without the scope team:read if the organization hides its members. Holds for every
// declared route, with each of its parameters: one that names members without saying so fails here, and one that says
// so in vain.

const NOW = new Date('2025-11-15T12:30:00.000Z')
/** Every id, address and name of the member contains it, and nothing else does. */
const WORD = 'qhiddenq'
const NAMES = { ...namesOf('shown'), user: `user_${WORD}`, email: `${WORD}@example.com` }
const ALL = ['read', 'write', 'audit:write', 'webhooks', 'admin']
const NARROW = SCOPES.filter((scope) => scope !== 'read' && scope !== 'team:read')

interface Hiding {
  owner: Org
  /** May do everything but see members. */
  narrow: Org
  /** Bound to the member. */
  boundId: string
}

const database = await testsDatabase()
/** Without a database, for the declarations. */
const routes = v1Routes(testApp(undefined as never)).filter((route) => !isStream(route))

const named = (records: ReturnType<typeof recordsOf>) =>
  records.map((record) => ({
    ...record,
    ...('display_name' in record && { display_name: WORD }),
    ...('author_name' in record && { author_name: WORD }),
  }))

/** An organization that hides its members, with one of each kind of record. */
async function hidingOrganization(): Promise<Hiding> {
  const { sql } = database
  const owner = await newOrg(sql, { scopes: ALL })
  const stored = await client(app, owner.key)('/v1/sync', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-machine': 'laptop' },
    // a member's budget that is exceeded needs attention
    body: JSON.stringify({
      records: [
        ...named(recordsOf(NAMES)),
        { type: 'budget', month: '2025-11', limit: 0.000001, member: NAMES.user },
      ],
    }),
  })
  expect(stored.status).toBe(200)
  await storeWebhook(sql, owner.orgId, NAMES)
  await updateOrganization(sql, owner.slug, { hide_members: true })
  const madeBy = { userId: NAMES.user, ipAddress: null }
  const bound = await createKey(
    sql,
    owner.orgId,
    { name: 'laptop', scopes: ['cost:read'], member: NAMES.email },
    madeBy,
  )
  const { id: keyId, key } = await createKey(sql, owner.orgId, { name: 'narrow', scopes: NARROW })
  return { owner, narrow: { ...owner, keyId, key }, boundId: bound.id }
}

const app = testApp(database.sql, { now: () => NOW, config: { rateLimits: PLENTY } })
const hiding = await hidingOrganization()

/** The parts of a response that may name somebody. */
const shown = async (response: Response) => ({
  status: response.status,
  text: [response.headers.get('link'), response.headers.get('location'), await response.text()].join(' '),
})

/** Whether members are shown by these parameters, so that the request must be refused. */
function isNaming({ hooks: { scope, members } }: Route, path: string): boolean {
  if (scope === 'team:read') return true
  const query = Object.fromEntries(new URL(path, 'http://localhost').searchParams)
  return (typeof members === 'function' ? members(query as never) : members) === true
}

describe('a read', () => {
  for (const route of routes.filter(({ method, path }) => method === 'GET' && !SHARED_PATHS.includes(path))) {
    const { path: pattern, hooks } = route
    test(`${pattern}, with each parameter, asked for first by who may see members`, async () => {
      const { owner, narrow, boundId } = hiding
      // a response that is kept is asked for until it is answered from memory
      const [asOwner, asNarrow] = [repeatingClient(app, owner.key), repeatingClient(app, narrow.key)]
      let isNamed = false
      for (const path of pathsOf(route, NAMES, boundId))
        for (const accept of hooks.list?.columns === undefined ? ['*/*'] : ['*/*', 'text/csv']) {
          const ask = async (as: typeof asOwner) => await shown(await as(path, { headers: { accept } }))
          const full = await ask(asOwner)
          expect([path, full.status]).toEqual([path, 200])
          isNamed ||= full.text.includes(WORD)
          const given = await ask(asNarrow)
          expect([path, given.status]).toEqual([path, isNaming(route, path) ? 403 : 200])
          if (given.status === 200) expect(given.text).not.toContain(WORD)
          expect(await ask(asOwner)).toEqual(full)
        }
      expect([pattern, isNamed]).toEqual([pattern, hooks.members !== undefined])
    })
  }
})

describe('a change', () => {
  for (const route of routes.filter(({ method }) => method !== 'GET')) {
    test(nameOf(route), async () => {
      const own = await hidingOrganization()
      expect(route.parameters.filter((name) => PARAMETERS[name] === undefined)).toEqual([])
      const target = pathOf(route, undefined, '', NAMES, own.boundId)
      const change = changeOf(nameOf(route).replace(' /v1/', ' /'))
      const given = await shown(await client(app, own.narrow.key)(target, change))
      expect(given.text.replace(target, '')).not.toContain(WORD)
      if (route.hooks.members === true) expect(given.status).toBe(403)
      else expect([200, 201, 202, 204]).toContain(given.status)
    })
  }
})
