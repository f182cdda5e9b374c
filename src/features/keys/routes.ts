import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { contains, type Scope } from '../../accounts/keys/model.ts'
import { createKey, revokeKey, rotateKey } from '../../accounts/keys/queries.ts'
import type { Access } from '../../accounts/people/callers.ts'
import { SCOPES_OF_DEVELOPERS_KEYS } from '../../accounts/people/roles.ts'
import { ApiError, forbidden, OperatorError, validationError } from '../../base/errors.ts'
import type { RouteDeps } from '../../http/api.ts'
import { getMember } from '../members/member-changes.ts'
import { CreatedKey, graceMsOf, Key, KeyListQuery, KeyPage, NewKeyBody, RotateKeyBody } from './model.ts'
import { getKey, listKeyPage } from './queries.ts'

const needs = { scope: 'admin or developer', members: 'left out' } as const

/** Returns the address whose keys the caller manages: a developer has their own only; undefined: everybody's. */
const ownerOf = ({ scopes, person }: Access): string | undefined =>
  person === null || contains(scopes, 'admin') ? undefined : person.email

/** Nobody gives a key more than they may do themselves; a developer also what a laptop needs. */
function refuseMore(access: Access, scopes: readonly Scope[]): void {
  const isOwn = ownerOf(access) !== undefined
  const missing = scopes.filter((scope) =>
    isOwn ? !SCOPES_OF_DEVELOPERS_KEYS.includes(scope) : !contains(access.scopes, scope),
  )
  if (missing.length === 0) return
  throw forbidden(
    ...missing.map((scope) => ({ field: 'scopes', message: `you do not have the scope ${scope}` })),
  )
}

/** The key for a response that may have to leave members out. */
const shownKey = <Shown extends Key>(key: Shown, hidesMembers: boolean): Shown =>
  hidesMembers ? { ...key, member: null, created_by: null } : key

/** The operator's errors of the command line as those of a request. */
async function asRequest<Result>(field: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw error instanceof OperatorError ? validationError({ field, message: error.message }) : error
  }
}

const refusePast = ({ body: { expires_at } }: { body: { expires_at?: unknown } }) =>
  typeof expires_at === 'string' && Date.parse(expires_at) <= Date.now()
    ? [{ field: 'expires_at', message: 'must be in the future' }]
    : []

export const keyRoutes = ({ sql, api, writes, enqueueWrite }: RouteDeps) => {
  const getUsable = async (access: Access, id: string): Promise<Key> => {
    const key = await getKey(writes, access.orgId, id, ownerOf(access))
    if (key.revoked_at !== null) throw new ApiError('NOT_FOUND', 'This API key is revoked')
    return key
  }
  const memberAddress = async (orgId: string, member: string) => {
    try {
      return (await getMember(writes, orgId, member)).email
    } catch (error) {
      const isUnknown = error instanceof ApiError && error.code === 'NOT_FOUND'
      throw isUnknown ? validationError({ field: 'member', message: 'is no member' }) : error
    }
  }
  const create = async (access: Access, body: NewKeyBody): Promise<CreatedKey> => {
    const { orgId, actor } = access
    refuseMore(access, body.scopes)
    const owner = ownerOf(access)
    const member = body.member == null ? owner : await memberAddress(orgId, body.member)
    if (owner !== undefined && member !== owner) {
      throw forbidden({ field: 'member', message: 'a developer makes keys for themselves only' })
    }
    const wanted = {
      name: body.name,
      scopes: body.scopes,
      expires: body.expires_at ?? undefined,
      member,
    }
    return await enqueueWrite(orgId, async () => {
      const { id, key } = await asRequest('body', createKey(writes, orgId, wanted, actor))
      return { ...(await getKey(writes, orgId, id, undefined)), key }
    })
  }
  return new Elysia({ prefix: '/keys', tags: ['Settings'] })
    .use(api)
    .get(
      '',
      async ({ query, access, hidesMembers }) => {
        const keys = await listKeyPage(sql, access.orgId, query, ownerOf(access))
        return { ...keys, data: keys.data.map((key) => shownKey(key, hidesMembers)) }
      },
      {
        ...needs,
        query: KeyListQuery,
        response: KeyPage,
        detail: { operationId: 'listKeys', summary: 'List the API keys, newest first' },
      },
    )
    .post('', async ({ body, access, hidesMembers }) => shownKey(await create(access, body), hidesMembers), {
      ...needs,
      body: NewKeyBody,
      check: refusePast,
      response: { 201: CreatedKey },
      detail: {
        operationId: 'createKey',
        summary: 'Make an API key',
        description: 'The key is in this answer only. It can have the scopes that you have yourself.',
      },
    })
    .get(
      '/:key_id',
      async ({ params, access, hidesMembers }) =>
        shownKey(await getKey(sql, access.orgId, params.key_id, ownerOf(access)), hidesMembers),
      { ...needs, response: Key, detail: { operationId: 'getKey', summary: 'One API key' } },
    )
    .post(
      '/:key_id/rotate',
      ({ params, body, orgId, actor, access, hidesMembers }) =>
        enqueueWrite(orgId, async () => {
          const { id, scopes } = await getUsable(access, params.key_id)
          refuseMore(access, scopes)
          const made = await asRequest('key_id', rotateKey(writes, id, graceMsOf(body), actor))
          const key = await getKey(writes, orgId, made.id, undefined)
          return shownKey({ ...key, key: made.key }, hidesMembers)
        }),
      {
        ...needs,
        body: RotateKeyBody,
        reads: { optional: true },
        response: CreatedKey,
        detail: {
          operationId: 'rotateKey',
          summary: 'Replace an API key',
          description: 'The new key has the same rights; the old one ends after the grace period.',
        },
      },
    )
    .delete(
      '/:key_id',
      ({ params, orgId, actor, access }) =>
        enqueueWrite(orgId, async () => {
          const { id } = await getUsable(access, params.key_id)
          await asRequest('key_id', revokeKey(writes, id, actor))
        }),
      {
        scope: needs.scope,
        response: { 204: Type.Void({ description: 'Revoked' }) },
        detail: { operationId: 'revokeKey', summary: 'Revoke an API key' },
      },
    )
}
