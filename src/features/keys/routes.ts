import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { checked } from '../../analysis/records/problems.ts'
import { isTime, normalizeTimestamp } from '../../base/dates.ts'
import type { RouteDeps } from '../../http/api.ts'
import { PageQuery } from '../../http/query.ts'
import { create, ownerOf, revoke, rotate, wantedKey } from './changes.ts'
import { CreatedKey, Key, KeyPage, NewKeyBody, RotateKeyBody } from './model.ts'
import { getKey, listKeyPage } from './queries.ts'

const needs = { scope: 'admin or developer', members: 'left out' } as const

/** The key for a response that may have to leave members out. */
const shownKey = <Shown extends Key>(key: Shown, hidesMembers: boolean): Shown =>
  hidesMembers ? { ...key, member: null, created_by: null } : key

const refusePast = ({ expires_at }: { expires_at?: unknown }) =>
  typeof expires_at === 'string' &&
  isTime(expires_at) &&
  Date.parse(normalizeTimestamp(expires_at)) <= Date.now()
    ? [{ field: 'expires_at', message: 'must be in the future' }]
    : []

export const keyRoutes = ({ read, api, writes, enqueueWrite }: RouteDeps) =>
  new Elysia({ prefix: '/keys', tags: ['Settings'] })
    .use(api)
    .get(
      '',
      async ({ query, orgId, access, hidesMembers }) => {
        const keys = await read(orgId, (sql) => listKeyPage(sql, orgId, query, ownerOf(access)))
        return { ...keys, data: keys.data.map((key) => shownKey(key, hidesMembers)) }
      },
      {
        ...needs,
        query: PageQuery,
        response: KeyPage,
        detail: { operationId: 'listKeys', summary: 'List the API keys, newest first' },
      },
    )
    .post(
      '',
      async ({ body, access, hidesMembers }) => {
        const fields = await wantedKey(writes, access, body)
        const key = await enqueueWrite(access.orgId, () => create(writes, access, fields))
        return shownKey(key, hidesMembers)
      },
      {
        ...needs,
        body: checked(NewKeyBody, refusePast),
        response: { 201: CreatedKey },
        detail: {
          operationId: 'createKey',
          summary: 'Make an API key',
          description: 'The key is in this answer only. It can have the scopes that you have yourself.',
        },
      },
    )
    .get(
      '/:key_id',
      async ({ params, orgId, access, hidesMembers }) =>
        shownKey(
          await read(orgId, (sql) => getKey(sql, orgId, params.key_id, ownerOf(access))),
          hidesMembers,
        ),
      { ...needs, response: Key, detail: { operationId: 'getKey', summary: 'One API key' } },
    )
    .post(
      '/:key_id/rotate',
      async ({ params, body, orgId, access, hidesMembers }) => {
        const key = await enqueueWrite(orgId, () => rotate(writes, access, params.key_id, body))
        return shownKey(key, hidesMembers)
      },
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
      ({ params, orgId, access }) => enqueueWrite(orgId, () => revoke(writes, access, params.key_id)),
      {
        scope: needs.scope,
        response: { 204: Type.Void({ description: 'Revoked' }) },
        detail: { operationId: 'revokeKey', summary: 'Revoke an API key' },
      },
    )
