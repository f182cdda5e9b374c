import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { publicPath } from '../config.ts'
import { ApiError, forbidden, OperatorError, validationError } from '../errors.ts'
import { access, guard, type RouteDeps } from '../http/access.ts'
import type { Access } from '../http/admission.ts'
import { contains, type Scope } from '../keys/model.ts'
import { createKey, revokeKey, rotateKey } from '../keys/queries.ts'
import { SCOPES_OF_DEVELOPERS_KEYS } from '../people/roles.ts'
import { getMember } from '../sync/member-changes.ts'
import type { SettingsDeps } from './deps.ts'
import { CreatedKey, graceMsOf, Key, KeyListQuery, KeyPage, NewKeyBody, RotateKeyBody } from './key-model.ts'
import { getKey, listKeyPage } from './key-queries.ts'

const tags = ['Settings']

/** Whose keys somebody manages: the address of a developer, who has their own only; undefined: everybody's. */
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

/** The operator's errors of the command line as those of a request. */
async function asRequest<Result>(field: string, work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    throw error instanceof OperatorError ? validationError({ field, message: error.message }) : error
  }
}

const refusePast = ({ expires_at }: { expires_at?: unknown }) =>
  typeof expires_at === 'string' && Date.parse(expires_at) <= Date.now()
    ? [{ field: 'expires_at', message: 'must be in the future' }]
    : []

export const keyRoutes = (deps: RouteDeps, { writes, enqueueWrite }: SettingsDeps) => {
  const prefix = publicPath(deps.config)
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
  return new Elysia()
    .use(access(deps))
    .get('/keys', ({ query, access }) => listKeyPage(deps.sql, access.orgId, query, ownerOf(access)), {
      ...guard('admin or developer', { query: KeyListQuery, response: { 200: KeyPage } }),
      detail: { operationId: 'listKeys', summary: 'List the API keys, newest first', tags },
    })
    .post(
      '/keys',
      async ({ body, request, set, access }) => {
        const created = await create(access, body)
        set.status = 201
        set.headers.location = `${prefix}${new URL(request.url).pathname}/${created.id}`
        return created
      },
      {
        ...guard('admin or developer', {
          body: NewKeyBody,
          problems: refusePast,
          response: { 201: CreatedKey },
        }),
        detail: {
          operationId: 'createKey',
          summary: 'Make an API key',
          description: 'The key is in this answer only. It can have the scopes that you have yourself.',
          tags,
        },
      },
    )
    .get(
      '/keys/:key_id',
      ({ params, access }) => getKey(deps.sql, access.orgId, params.key_id, ownerOf(access)),
      {
        ...guard('admin or developer', { response: { 200: Key } }),
        detail: { operationId: 'getKey', summary: 'One API key', tags },
      },
    )
    .post(
      '/keys/:key_id/rotate',
      async ({ params, body, access }): Promise<CreatedKey> => {
        const { orgId, actor } = access
        return await enqueueWrite(orgId, async () => {
          const { id, scopes: given } = await getUsable(access, params.key_id)
          refuseMore(access, given)
          const made = await asRequest('key_id', rotateKey(writes, id, graceMsOf(body), actor))
          return { ...(await getKey(writes, orgId, made.id, undefined)), key: made.key }
        })
      },
      {
        ...guard('admin or developer', {
          body: RotateKeyBody,
          optional: true,
          response: { 200: CreatedKey },
        }),
        detail: {
          operationId: 'rotateKey',
          summary: 'Replace an API key',
          description: 'The new key has the same rights; the old one ends after the grace period.',
          tags,
        },
      },
    )
    .delete(
      '/keys/:key_id',
      async ({ params, set, access }) => {
        const { orgId, actor } = access
        await enqueueWrite(orgId, async () => {
          const { id } = await getUsable(access, params.key_id)
          await asRequest('key_id', revokeKey(writes, id, actor))
        })
        set.status = 204
      },
      {
        ...guard('admin or developer', { response: { 204: Type.Void({ description: 'Revoked' }) } }),
        detail: { operationId: 'revokeKey', summary: 'Revoke an API key', tags },
      },
    )
}
