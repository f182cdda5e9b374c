import { describe, expect, test } from 'bun:test'
import { createKey } from '../../../src/accounts/keys/queries.ts'
import { SCOPE_TABLE } from '../../../src/accounts/keys/scopes.ts'
import { saveAccount } from '../../../src/accounts/people/account-queries.ts'
import { ROLES, type Role } from '../../../src/config.ts'
import { asker, newKey, newOrg, PLENTY, testApp } from '../../support/api.ts'
import { testsDatabase } from '../../support/postgres.ts'
import { addPerson, invite, PASSWORD, post, signedIn } from './people.ts'

// Nobody gives more than they have, and only an owner touches an owner: every route and record that changes a member, for each
// role and each kind of caller. What is right is computed here from the table of scopes, which docs/access.md has too.

const namesOf = (isWanted: (scope: (typeof SCOPE_TABLE)[number]) => boolean) =>
  SCOPE_TABLE.filter(isWanted).map(({ name }) => name)
/** The parts of a scope, as small as scopes can be. */
const PARTS: Record<string, string[]> = {
  read: ['read', ...namesOf(({ within }) => within === 'read')],
  write: ['write', ...namesOf(({ within }) => within === 'write')],
}
const partsOf = (scopes: readonly string[]) => new Set(scopes.flatMap((scope) => PARTS[scope] ?? [scope]))
const ALL = ['read', 'write', 'audit:write', 'webhooks', 'admin']
const OF_ROLE: Record<Role, Set<string>> = {
  owner: partsOf(ALL),
  admin: partsOf(ALL),
  developer: partsOf(namesOf(({ developers }) => developers !== undefined)),
  auditor: partsOf(['read']),
}
const has = (held: Set<string>, wanted: Set<string>, but: Set<string> = new Set()) =>
  [...wanted].every((part) => held.has(part) || but.has(part))

const db = await testsDatabase()
type Ask = ReturnType<typeof asker>
interface Caller {
  name: string
  held: Set<string>
  isOwner: boolean
  ask: (method: string, path: string, body?: object) => Promise<{ status: number; text: string }>
}
const callers: Caller[] = []

const app = testApp(db.sql, { config: { rateLimits: PLENTY } })
const orgId = (await newOrg(db.sql)).orgId
for (const role of ['owner', 'admin'] as const) {
  const person = await signedIn(app, db.sql, orgId, `${role}@example.com`, role)
  callers.push({
    name: role,
    held: OF_ROLE[role],
    isOwner: role === 'owner',
    async ask(method, path, body) {
      const answer = await person.send(method, path, body)
      return { status: answer.status, text: await answer.text() }
    },
  })
}
const keyOf = async (scopes: string[], member?: string) => {
  const key = await newKey(db.sql, orgId, scopes, member)
  const ask: Ask = asker(app, key)
  const name = `a key with ${scopes}${member === undefined ? '' : ` of ${member}`}`
  callers.push({ name, held: partsOf(scopes), isOwner: false, ask })
}
const further = ['read', 'sessions:write', 'commits:write', 'write', 'webhooks', 'audit:write']
for (let count = 0; count <= further.length; count += 1) await keyOf(['admin', ...further.slice(0, count)])
await keyOf(ALL, 'owner@example.com')

let made = 0
const newMember = async (role: Role) => {
  made += 1
  return await addPerson(db.sql, orgId, `m${made}@example.com`, role)
}
const roleOf = async (id: string) =>
  (await db.sql<{ role: string }[]>`select m.role from members m where m.id = ${id}`)[0]?.role
const pairs = ROLES.flatMap((from) => ROLES.map((to) => [from, to] as const))

describe('a member', () => {
  test('is added with a role that the caller may give', async () => {
    for (const { name, held, isOwner, ask } of callers) {
      for (const role of ROLES) {
        made += 1
        const body = { email: `m${made}@example.com`, display_name: 'M', role }
        const mayGive = role === 'owner' ? isOwner : role !== 'admin' || has(held, OF_ROLE.admin)
        const { status } = await ask('POST', '/v1/members', body)
        expect([name, role, status]).toEqual([name, role, mayGive ? 201 : 403])
      }
    }
  })

  test('is invited by who has the scopes of the role', async () => {
    for (const { name, held, isOwner, ask } of callers) {
      for (const role of ROLES) {
        const { id } = await newMember(role)
        const mayInvite = has(held, OF_ROLE[role]) && (role !== 'owner' || isOwner)
        const { status } = await ask('POST', `/v1/members/${id}/invitation`)
        expect([name, role, status]).toEqual([name, role, mayInvite ? 201 : 403])
        // who is no member, and who is one, by the role that they have
        made += 1
        const unknown = `m${made}@example.com`
        await newMember(role)
        for (const members of [
          [{ email: `new-${unknown}`, role }],
          [{ email: `m${made}@example.com`, role: 'auditor' }],
        ]) {
          const many = await ask('POST', '/v1/members/invitations', { members })
          expect([name, role, many.status]).toEqual([name, role, mayInvite ? 201 : 403])
        }
      }
    }
  })

  test('gets another role from who has what it adds', async () => {
    for (const { name, held, isOwner, ask } of callers) {
      for (const [from, to] of pairs) {
        const { id } = await newMember(from)
        const touchesOwner = from === 'owner' || to === 'owner'
        const mayChange = (!touchesOwner || isOwner) && has(held, OF_ROLE[to], OF_ROLE[from])
        const { status } = await ask('PATCH', `/v1/members/${id}`, { role: to })
        expect([name, from, to, status]).toEqual([name, from, to, mayChange ? 200 : 403])
        expect(await roleOf(id)).toBe(mayChange ? to : from)
      }
    }
  })

  test('who is an owner is changed and removed by an owner only, and has aliases of their own making', async () => {
    for (const { name, isOwner, ask } of callers) {
      const { id } = await newMember('owner')
      const named = await ask('PATCH', `/v1/members/${id}`, { display_name: 'Another' })
      expect([name, named.status]).toEqual([name, isOwner ? 200 : 403])
      // 403 also where the body would be 400: it is an address of somebody else
      const alias = await ask('PATCH', `/v1/members/${id}`, { aliases: ['admin@example.com'] })
      expect([name, alias.status]).toEqual([name, 403])
      expect([name, (await ask('DELETE', `/v1/members/${id}`)).status]).toEqual([name, isOwner ? 204 : 403])
    }
  })
})

describe('a record', () => {
  const record = (email: string, role: Role, more: object = {}) => ({
    ...{ type: 'member', email, display_name: 'R', role, joined_at: '2026-01-01T00:00:00Z' },
    ...more,
  })
  const sync = async ({ ask }: Pick<Caller, 'ask'>, ...records: object[]) => {
    const { status, text } = await ask('POST', '/v1/sync', { records })
    return { status, body: JSON.parse(text) as Record<string, unknown> }
  }

  test('makes no owner, by whoever sends it', async () => {
    for (const caller of callers.filter(({ held }) => held.has('members:write'))) {
      made += 1
      const good = record(`m${made}@example.com`, 'developer')
      for (const email of [`new${made}@example.com`, good.email]) {
        await sync(caller, good)
        const { status, body } = await sync(caller, good, record(email, 'owner'))
        expect([caller.name, status, body.details]).toEqual([
          caller.name,
          403,
          [{ field: 'records[1].role', message: expect.stringContaining('only an owner') }],
        ])
      }
    }
  })

  test('leaves an owner as they are, unless an owner sends it', async () => {
    for (const caller of callers.filter(({ held }) => held.has('members:write'))) {
      const { id, email } = await newMember('owner')
      const changed = record(
        email,
        'owner',
        caller.name.includes(' of ') ? {} : { aliases: [`a${made}@example.com`] },
      )
      const sent = caller.isOwner ? record(email, 'owner') : changed
      const { status, body } = await sync(caller, sent)
      const expected = caller.isOwner ? { updated: 1, unchanged: 0 } : { updated: 0, unchanged: 1 }
      expect([caller.name, status]).toEqual([caller.name, 200])
      expect(body).toMatchObject({ created: 0, ...expected })
      const lower = await sync(caller, record(email, 'auditor'))
      expect([caller.name, lower.status]).toEqual([caller.name, 200])
      expect([caller.name, await roleOf(id)]).toEqual([caller.name, caller.isOwner ? 'auditor' : 'owner'])
      const aliases = await db.sql`select 1 from member_aliases l where l.member_email = ${email}`
      expect(aliases).toHaveLength(0)
      const alias = await callers[0]?.ask('POST', '/v1/sync', {
        records: [record((await newMember('owner')).email, 'owner', { aliases: [`b${made}@example.com`] })],
      })
      expect(alias?.status).toBe(403)
    }
  })

  test('gives a role to who can sign in where its sender has what it adds, with the scope admin', async () => {
    const plain = await newKey(db.sql, orgId, ['write'])
    const writer = { name: 'write', held: partsOf(['write']), isOwner: false, ask: asker(app, plain) }
    for (const caller of [writer, ...callers.filter(({ held }) => held.has('members:write'))]) {
      for (const [from, to] of pairs.filter((roles) => !roles.includes('owner'))) {
        const member = await newMember(from)
        const { email } = member
        await db.sql.begin((tx) => saveAccount(tx, orgId, member, { passwordHash: 'none' }))
        const may = from === to || (caller.held.has('admin') && has(caller.held, OF_ROLE[to], OF_ROLE[from]))
        const { status } = await sync(caller, record(email, to))
        expect([caller.name, from, to, status]).toEqual([caller.name, from, to, may ? 200 : 403])
      }
    }
  })

  test('makes an admin, of who is new or known, where its sender has the scope admin and what it adds', async () => {
    const plain = await newKey(db.sql, orgId, ['write'])
    const writer = { name: 'write', held: partsOf(['write']), isOwner: false, ask: asker(app, plain) }
    for (const caller of [writer, ...callers.filter(({ held }) => held.has('members:write'))]) {
      for (const from of [undefined, 'developer', 'auditor', 'admin'] as const) {
        made += 1
        const email = from === undefined ? `new${made}@example.com` : (await newMember(from)).email
        const isAdmin = caller.held.has('admin')
        const may = from === 'admin' || (isAdmin && has(caller.held, OF_ROLE.admin, from && OF_ROLE[from]))
        const { status, body } = await sync(caller, record(email, 'admin'))
        expect([caller.name, from, status]).toEqual([caller.name, from, may ? 200 : 403])
        if (!may)
          expect(body.details).toEqual([
            { field: 'records[0].role', message: expect.stringContaining('the role admin needs the scopes') },
          ])
        // the name is another one
        if (from === 'admin') expect(body).toMatchObject(isAdmin ? { updated: 1 } : { unchanged: 1 })
      }
    }
  })

  test('gives a bound key no more than its sender has', async () => {
    for (const scopes of [['members:write'], ['write']]) {
      const key = await newKey(db.sql, orgId, scopes)
      const sender = { ask: asker(app, key) }
      for (const [from, to, hasKey, status] of [
        ['developer', 'admin', true, 403],
        ['auditor', 'admin', true, 403],
        ['admin', 'developer', true, 200],
        ['developer', 'auditor', false, 200],
      ] as const) {
        const { id, email } = await newMember(from)
        if (hasKey) await createKey(db.sql, orgId, { name: 'k', scopes: ['admin'], member: email })
        const sent = await sync(sender, record(email, to))
        expect([scopes, from, to, hasKey, sent.status]).toEqual([scopes, from, to, hasKey, status])
        expect(await roleOf(id)).toBe(status === 200 ? to : from)
      }
    }
  })
})

test('a changed role ends the invitation that was made before, by a route and by a record', async () => {
  const all = callers.find(({ name }) => name === 'admin')
  for (const change of ['route', 'record'] as const) {
    const { id, email, joined_at } = await newMember('developer')
    const token = await invite(db.sql, orgId, id)
    const body = { role: 'auditor', display_name: 'X' }
    const { status } =
      change === 'route'
        ? ((await all?.ask('PATCH', `/v1/members/${id}`, body)) ?? { status: 0 })
        : ((await all?.ask('POST', '/v1/sync', {
            records: [{ type: 'member', email, joined_at, ...body }],
          })) ?? { status: 0 })
    expect(status).toBe(200)
    expect((await post(app, '/auth/accept', { token, password: PASSWORD })).status).toBe(401)
    const kept = await invite(db.sql, orgId, id)
    await all?.ask('PATCH', `/v1/members/${id}`, { display_name: 'Y' })
    expect((await post(app, '/auth/accept', { token: kept, password: PASSWORD })).status).toBe(204)
  }
})

describe('a key of a member', () => {
  const whoAmI = async (key: string) => {
    const { status, body } = await asker(app, key)('GET', '/v1/whoami')
    const { scopes, key: shown } = body as unknown as { scopes: string[]; key: { scopes: string[] } }
    if (status === 200) expect(shown.scopes).toEqual(scopes)
    return { status, parts: partsOf(scopes ?? []) }
  }

  test('has what both have, at each use', async () => {
    const wide = [
      ['read', 'write', 'admin'],
      ALL,
      ['audit:read'],
      ['write'],
      ['cost:read', 'webhooks'],
      ['members:write'],
    ]
    for (const role of ROLES) {
      for (const scopes of wide) {
        const { email } = await newMember(role)
        const key = await newKey(db.sql, orgId, scopes, email)
        const both = new Set([...partsOf(scopes)].filter((part) => OF_ROLE[role].has(part)))
        expect([role, scopes, await whoAmI(key)]).toEqual([
          role,
          scopes,
          both.size === 0 ? { status: 403, parts: new Set() } : { status: 200, parts: both },
        ])
      }
    }
  })

  test('loses at once what the member no longer may', async () => {
    const { id, email } = await newMember('admin')
    const key = await newKey(db.sql, orgId, ['admin', 'read'], email)
    const ask = asker(app, key)
    expect((await ask('GET', '/v1/members')).status).toBe(200)
    const owner = callers[0]
    expect((await owner?.ask('PATCH', `/v1/members/${id}`, { role: 'developer' }))?.status).toBe(200)
    expect((await ask('GET', '/v1/members')).status).toBe(403)
    expect((await ask('GET', '/v1/audit')).status).toBe(403)
    expect((await ask('GET', '/v1/sessions')).status).toBe(200)
    expect((await owner?.ask('PATCH', `/v1/members/${id}`, { role: 'auditor' }))?.status).toBe(200)
    expect((await ask('GET', '/v1/audit')).status).toBe(200)
  })

  test('sends telemetry while its member may send sessions', async () => {
    for (const [role, status] of [
      ['developer', 200],
      ['auditor', 403],
    ] as const) {
      const { email } = await newMember(role)
      const key = await newKey(db.sql, orgId, ['ingest'], email)
      expect((await asker(app, key)('POST', '/v1/logs', { resourceLogs: [] })).status).toBe(status)
    }
  })
})
