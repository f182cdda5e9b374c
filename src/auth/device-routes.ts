import { Elysia } from 'elysia'
import { recordEntries } from '../audit-log/append.ts'
import type { ISql, Sql } from '../db/client.ts'
import { lockOrganization } from '../db/org-lock.ts'
import { ApiError } from '../errors.ts'
import { contains, type Scope } from '../keys/model.ts'
import { insertKey } from '../keys/queries.ts'
import { findOrganizationById } from '../organizations/queries.ts'
import { cookieReader } from '../people/cookies.ts'
import {
  answerDevice,
  askDevice,
  createDevice,
  DEVICE_EXPIRES_S,
  DEVICE_INTERVAL_S,
} from '../people/device-queries.ts'
import { SCOPES_OF_DEVELOPERS_KEYS, SCOPES_OF_ROLE } from '../people/roles.ts'
import { findSession } from '../people/sign-in-queries.ts'
import { csrfTokenOf } from '../people/tokens.ts'
import { countTry } from '../people/try-queries.ts'
import type { Role } from '../records/member.ts'
import { getMember } from '../sync/member-changes.ts'
import { type AuthDeps, bodyReader, clientOf } from './deps.ts'
import { ApproveBody, DeviceBody, DeviceTokenBody } from './model.ts'

/** A laptop needs these scopes. */
const WANTED: readonly Scope[] = ['sessions:write', 'commits:write', 'sessions:read', 'cost:read']
/** Machines that an address may name in a minute: each is a row for ten minutes. */
const MAX_DEVICES = 60

/** Returns those of the wanted scopes that the role holds, or may give to keys of its own. */
const scopesFor = (role: Role): Scope[] =>
  WANTED.filter(
    (scope) =>
      contains(SCOPES_OF_ROLE[role], scope) ||
      (role === 'developer' && SCOPES_OF_DEVELOPERS_KEYS.includes(scope)),
  )

/** An auditor changes nothing: a laptop has nothing to send for one. */
const mayApprove = (role: Role): boolean => scopesFor(role).includes('sessions:write')

/** Signing a machine in: RFC 8628. */
export const deviceRoutes = (deps: AuthDeps) => {
  const { writes, config, gate, listenUrl } = deps
  const cookieOf = cookieReader(config)
  const readDevice = bodyReader(gate, DeviceBody)
  const readToken = bodyReader(gate, DeviceTokenBody)
  const readApproval = bodyReader(gate, ApproveBody)
  const hide = { parse: () => null, detail: { hide: true } }
  return new Elysia()
    .post(
      '/auth/device',
      async ({ request, server, set }) => {
        set.headers['cache-control'] = 'no-store'
        const { name } = await readDevice(request)
        const { counted, at } = clientOf(request, server, deps)
        await countTry(writes, [`machines of ${counted}`], { limit: MAX_DEVICES, at })
        const device = await createDevice(writes, name)
        const verification_uri = `${config.publicUrl ?? listenUrl()}/device`
        return {
          ...device,
          verification_uri,
          verification_uri_complete: `${verification_uri}#code=${device.user_code}`,
          expires_in: DEVICE_EXPIRES_S,
          interval: DEVICE_INTERVAL_S,
        }
      },
      hide,
    )
    .post(
      '/auth/device/token',
      async ({ request, set }) => {
        set.headers['cache-control'] = 'no-store'
        const { device_code } = await readToken(request)
        const answer = (await writes.begin(async (tx) => {
          const said = await askDevice(tx, device_code)
          return 'error' in said ? said : await makeDeviceKey(tx, said)
        })) as Awaited<ReturnType<typeof makeDeviceKey>> | { error: string }
        if ('error' in answer) set.status = 400
        return answer
      },
      hide,
    )
    .post(
      '/auth/device/approve',
      async ({ request, server, set }) => {
        set.headers['cache-control'] = 'no-store'
        const token = cookieOf(request)
        const person = token === undefined ? undefined : await findSession(writes, token)
        if (token === undefined || person === undefined) {
          throw new ApiError('UNAUTHORIZED', 'Sign in to approve a machine')
        }
        if (request.headers.get('x-csrf-token') !== csrfTokenOf(token)) {
          throw new ApiError('FORBIDDEN', 'X-CSRF-Token: must be the one of /v1/whoami')
        }
        const { user_code, approve } = await readApproval(request)
        const { orgId, memberId, role } = person
        if (approve && !mayApprove(role)) {
          throw new ApiError('FORBIDDEN', 'An auditor sends no sessions: a machine gets no key')
        }
        const code = normalized(user_code)
        if (!(await approveDevice(writes, code, approve ? { orgId, memberId } : null))) {
          const { counted, at } = clientOf(request, server, deps)
          await countTry(writes, [`address ${counted}`, `account ${memberId}`], { at })
          throw new ApiError('NOT_FOUND', 'No machine waits with this code: it may be too old')
        }
        set.status = 204
        return null
      },
      hide,
    )
}

/** Writes the code as it was shown, however it was typed. */
const normalized = (code: string): string => {
  const letters = code.toUpperCase().replace(/[^A-Z]/g, '')
  return `${letters.slice(0, 4)}-${letters.slice(4)}`
}

const approveDevice = (sql: Sql, code: string, approver: { orgId: string; memberId: string } | null) =>
  sql.begin((tx) => answerDevice(tx, code, approver)) as Promise<boolean>

/** The key of an approved machine, bound to who approved it; `access_denied` where the role no longer allows one. */
async function makeDeviceKey(
  tx: ISql,
  { orgId, memberId, name }: { orgId: string; memberId: string; name: string },
) {
  await lockOrganization(tx, orgId)
  const member = await getMember(tx, orgId, memberId)
  if (!mayApprove(member.role)) return { error: 'access_denied' }
  const scopes = scopesFor(member.role)
  const actor = { userId: memberId, ipAddress: null }
  const rights = { name, scopes, expires_at: null, member: member.email }
  const { id, key } = await insertKey(tx, orgId, rights, actor)
  await recordEntries(tx, orgId, actor, [
    {
      action: 'api_key.created',
      details: { ids: [id], name, scopes, expires_at: null, member: member.email },
    },
  ])
  const organization = await findOrganizationById(tx, orgId)
  return {
    key,
    organization,
    member: { id: member.id, email: member.email },
  }
}
