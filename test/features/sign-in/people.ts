import { SYSTEM } from '../../../src/accounts/audit-log/append.ts'
import { createInvitation } from '../../../src/accounts/people/invitation-queries.ts'
import type { Role } from '../../../src/analysis/records/member.ts'
import type { Sql } from '../../../src/database/client.ts'
import { lockOrganization } from '../../../src/database/org-lock.ts'
import { addMember } from '../../../src/features/members/member-changes.ts'
import type { App } from '../../../src/server/app.ts'
import { jsonInit } from '../../support/api.ts'

// People of an organization who sign in through an app.

export const PASSWORD = 'correct horse battery'

/** A member of the organization. */
export async function addPerson(sql: Sql, orgId: string, email: string, role: Role = 'developer') {
  const changer = { actor: SYSTEM }
  const person = { email, display_name: email.split('@')[0] ?? '', role }
  return await sql.begin((tx) => addMember(tx, orgId, changer, person, new Date()))
}

/** The token of a new invitation. */
export async function invite(sql: Sql, orgId: string, memberId: string): Promise<string> {
  const { token } = await sql.begin(async (tx) => {
    await lockOrganization(tx, orgId)
    return await createInvitation(tx, orgId, memberId, SYSTEM)
  })
  return token
}

/** Posts JSON outside /v1. */
export const post = (app: App, path: string, body: unknown, headers: Record<string, string> = {}) =>
  app.handle(new Request(`http://localhost${path}`, jsonInit('POST', body, headers)))

/** The cookie that a response sets, as a browser would send it. */
export const cookieOf = (response: Response): string =>
  (response.headers.get('set-cookie') ?? '').split(';')[0] ?? ''

/** Sends requests with a cookie as a page does, with the token of its session. */
export async function browser(app: App, cookie: string) {
  const send = (path: string, init: RequestInit = {}) =>
    app.handle(
      new Request(`http://localhost${path}`, { ...init, headers: { cookie, ...(init.headers as object) } }),
    )
  const { csrf_token } = (await (await send('/v1/whoami')).json()) as { csrf_token: string }
  return {
    cookie,
    csrf: csrf_token,
    get: (path: string) => send(path),
    send: (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
      send(path, {
        method,
        headers: { 'content-type': 'application/json', 'x-csrf-token': csrf_token, ...headers },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
  }
}

/** A member who has accepted an invitation and is signed in. */
export async function signedIn(app: App, sql: Sql, orgId: string, email: string, role: Role = 'developer') {
  const { id } = await addPerson(sql, orgId, email, role)
  const accepted = await post(app, '/auth/accept', {
    token: await invite(sql, orgId, id),
    password: PASSWORD,
  })
  if (accepted.status !== 204) throw new Error(`${accepted.status}: ${await accepted.text()}`)
  return { id, ...(await browser(app, cookieOf(accepted))) }
}
