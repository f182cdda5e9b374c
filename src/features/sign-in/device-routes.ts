// Routes of /auth/device: a machine gets a key by a person's approval (RFC 8628).

import { type Static, Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { type Actor, recordEntry } from '../../accounts/audit-log/append.ts'
import { insertKey } from '../../accounts/keys/queries.ts'
import { contains, SCOPES_OF_DEVELOPERS_KEYS, SCOPES_OF_ROLE } from '../../accounts/keys/rights.ts'
import type { Scope } from '../../accounts/keys/scopes.ts'
import { findOrganizationById } from '../../accounts/organizations/queries.ts'
import {
  answerDevice,
  askDevice,
  createDevice,
  DEVICE_EXPIRES_S,
  DEVICE_INTERVAL_S,
  findAnswer,
  findDevice,
  takeAnswer,
} from '../../accounts/people/device-queries.ts'
import type { FoundSession } from '../../accounts/people/sign-in-queries.ts'
import type { Role } from '../../analysis/records/member.ts'
import { ApiError } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import { getMember } from '../members/member-changes.ts'
import { type AuthDeps, sessionReader, signInClientOf } from './deps.ts'
import {
  ApproveBody,
  Device,
  DeviceBody,
  type DeviceError,
  DeviceKey,
  DeviceProblem,
  DeviceTokenBody,
  Waiting,
  WaitingQuery,
} from './model.ts'
import type { Client } from './sign-in.ts'

type DeviceDeps = Pick<AuthDeps, 'people' | 'inTurn' | 'countTry'>

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

/** Writes the code as it was shown, however it was typed. */
const normalized = (code: string): string => {
  const letters = code.toUpperCase().replace(/[^A-Z]/g, '')
  return `${letters.slice(0, 4)}-${letters.slice(4)}`
}

const refused = (error: Static<typeof DeviceError>['error']) => ({ error })

const noDevice = () => new ApiError('NOT_FOUND', 'No machine waits with this code: it may be too old')

/** Begins a machine's sign-in. Throws RATE_LIMITED. */
async function beginDevice({ people, countTry }: DeviceDeps, name: string, client: Client) {
  await countTry([`machines of ${client.counted}`], { limit: MAX_DEVICES, at: client.at })
  return await createDevice(people, name, client.exact)
}

/** Each look at a code is a try, whether or not a machine has it: codes are short. */
const countCode = ({ countTry }: DeviceDeps, { memberId }: FoundSession, { counted, at }: Client) =>
  countTry([`codes from ${counted}`, `codes of ${memberId}`], { at })

/** The machine with this code, for who is to approve it. Throws NOT_FOUND, RATE_LIMITED. */
async function showDevice(deps: DeviceDeps, session: FoundSession, client: Client, userCode: string) {
  await countCode(deps, session, client)
  const device = await findDevice(deps.people, normalized(userCode))
  if (device === undefined) throw noDevice()
  return device
}

/** Approves the machine with this code, or refuses it. Throws NOT_FOUND, RATE_LIMITED, FORBIDDEN for an auditor. */
export async function decideDevice(
  deps: DeviceDeps,
  session: FoundSession,
  client: Client,
  { user_code, approve }: { user_code: string; approve: boolean },
): Promise<void> {
  const { id, orgId, memberId, role } = session
  await countCode(deps, session, client)
  if (approve && !mayApprove(role))
    throw new ApiError('FORBIDDEN', 'An auditor sends no sessions: a machine gets no key')
  const answer = { approved: approve, orgId, memberId, from: client.exact }
  await deps.inTurn(orgId, async (tx) => {
    const name = await answerDevice(tx, normalized(user_code), answer)
    if (name === undefined) throw noDevice()
    const actor = { userId: memberId, ipAddress: client.exact, session: id }
    const action = approve ? 'device.approved' : 'device.refused'
    await recordEntry(tx, orgId, actor, action, { name })
  })
}

/** Tells a machine why it has no key yet, or gives it the key, once. */
export async function pollDevice({ people, inTurn }: DeviceDeps, deviceCode: string) {
  const answer = await askDevice(people, deviceCode)
  if (answer !== undefined) return refused(answer.isEarly ? 'slow_down' : 'authorization_pending')
  const orgId = await findAnswer(people, deviceCode)
  if (orgId === undefined) return refused('expired_token')
  return await inTurn(orgId, (tx) => makeDeviceKey(tx, orgId, deviceCode))
}

/** The key of an approved machine, bound to who approved it; `access_denied` where the role no longer allows one. */
async function makeDeviceKey(tx: ISql, orgId: string, deviceCode: string) {
  const answer = await takeAnswer(tx, deviceCode)
  if (answer === undefined) return refused('expired_token')
  const { approved, memberId, from, name } = answer
  const member = await getMember(tx, orgId, memberId)
  if (!approved || !mayApprove(member.role)) return refused('access_denied')
  const scopes = scopesFor(member.role)
  const actor: Actor = { userId: memberId, ipAddress: from }
  const rights = { name, scopes, expires_at: null, member: member.email }
  const { id, key } = await insertKey(tx, orgId, rights, actor)
  await recordEntry(tx, orgId, actor, 'api_key.created', {
    ids: [id],
    name,
    scopes,
    expires_at: null,
    member: member.email,
  })
  const organization = await findOrganizationById(tx, orgId)
  if (organization === undefined) return refused('access_denied')
  return { key, organization, member: { id: member.id, email: member.email } }
}

/** Signing a machine in: RFC 8628. */
export const deviceRoutes = (deps: AuthDeps) => {
  const { publicApi, config, listenUrl } = deps
  const sessionOf = sessionReader(deps)
  return new Elysia({ prefix: '/device', tags: ['Sign-in'] })
    .use(publicApi)
    .post(
      '',
      async ({ body, request, server }) => {
        const device = await beginDevice(deps, body.name, signInClientOf(request, server, deps))
        const verification_uri = `${config.publicUrl ?? listenUrl()}/device`
        return {
          ...device,
          verification_uri,
          verification_uri_complete: `${verification_uri}#code=${device.user_code}`,
          expires_in: DEVICE_EXPIRES_S,
          interval: DEVICE_INTERVAL_S,
        }
      },
      {
        body: DeviceBody,
        response: Device,
        fails: [429],
        detail: { operationId: 'beginDevice', summary: 'Begin the sign-in of a machine (RFC 8628)' },
      },
    )
    .get(
      '',
      async ({ query: { user_code = '' }, request, server }) => {
        const session = await sessionOf(request)
        return await showDevice(deps, session, signInClientOf(request, server, deps), user_code)
      },
      {
        query: WaitingQuery,
        response: Waiting,
        fails: [401, 404, 429, 503],
        detail: {
          operationId: 'getDevice',
          summary: 'The machine that waits with a code',
          security: [{ session: [] }],
        },
      },
    )
    .post(
      '/token',
      async ({ body, status }) => {
        const answer = await pollDevice(deps, body.device_code)
        return 'error' in answer ? status(400, answer) : answer
      },
      {
        body: DeviceTokenBody,
        response: { 200: DeviceKey, 400: DeviceProblem },
        detail: { operationId: 'pollDevice', summary: 'Ask for the key of a machine that was approved' },
      },
    )
    .post(
      '/approve',
      async ({ body, request, server }) =>
        await decideDevice(deps, await sessionOf(request), signInClientOf(request, server, deps), body),
      {
        before: sessionOf,
        body: ApproveBody,
        response: { 204: Type.Void({ description: 'Approved or refused' }) },
        fails: [401, 403, 404, 429],
        detail: {
          operationId: 'decideDevice',
          summary: 'Approve a machine, or refuse it',
          security: [{ session: [], csrfToken: [] }],
        },
      },
    )
}
