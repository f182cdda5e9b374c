import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { findZone } from '../../accounts/organizations/zone-queries.ts'
import type { Access } from '../../accounts/people/callers.ts'
import { armOf } from '../../analysis/effects/assigned-arms.ts'
import { loadPriceHistory } from '../../analysis/scoring/base-prices.ts'
import { dayOf, daysBetween } from '../../base/dates.ts'
import { ApiError, fieldError } from '../../base/errors.ts'
import { once } from '../../base/memoize.ts'
import type { ISql, Sql } from '../../database/client.ts'
import type { ReadDeps, RouteDeps } from '../../http/api.ts'
import { listOf } from '../../http/list-queries.ts'
import { fields } from '../../http/responses/csv.ts'
import { answerOnce, IdempotencyHeader, idempotencyOf } from '../../webhooks/idempotency-queries.ts'
import type { SecretBox } from '../../webhooks/signing/secret-box.ts'
import { findMemberIds } from '../usage/member-queries.ts'
import { listStoredEffects, noEffect, partsOf } from './effect-queries.ts'
import { rememberChanges } from './find-changes.ts'
import {
  Arm,
  ArmQuery,
  Effect,
  EffectChangeBody,
  EffectListQuery,
  EffectPage,
  EffectQuery,
  FIRST_LOOK,
  NewEffect,
} from './model.ts'
import { addEffect, changeEffect, deleteEffect } from './recorded-changes.ts'
import { findEffect, listEffects } from './reports.ts'
import { readMembers } from './work-queries.ts'

const METHOD =
  'Those who changed are compared with those who had not, before and after. The answer says with which range, and what ' +
  'could have been seen. Members were not assigned to a change: work that became harder in the same week looks the same.'

const ofChange = (name: keyof Effect['change']) => ({
  [name]: ({ change }: Effect) => change[name],
})
const COLUMNS = {
  ...fields<Effect>('id', 'name'),
  ...ofChange('trait'),
  ...ofChange('value'),
  ...ofChange('source'),
  ...ofChange('first_week'),
  ...ofChange('unit'),
  ...fields<Effect>('evidence', 'verdict', 'measure', 'changed', 'others', 'effect', 'low', 'high'),
  ...fields<Effect>('visible_rise', 'visible_fall', 'p', 'money', 'compared_share', 'dismissed', 'look_at'),
}

/** Reads changes; what is measured is kept by `store`. */
function readerOf({ now, config }: Pick<ReadDeps, 'now' | 'config'>, store: ISql) {
  const prices = once(() => loadPriceHistory(config.modelPrices?.prices))
  const find = rememberChanges()
  const deps = async (sql: ISql) => ({ sql, store, prices: await prices(), now: now(), find })
  return {
    list: async (sql: ISql, orgId: string, query: EffectListQuery): Promise<Effect[]> =>
      (await listEffects(await deps(sql), orgId, query)).map(({ effect }) => effect),
    /** Throws NOT_FOUND. */
    get: async (sql: ISql, orgId: string, id: string, query: EffectQuery = FIRST_LOOK): Promise<Effect> => {
      const effect = await findEffect(await deps(sql), orgId, id, query)
      if (effect === undefined) throw noEffect()
      return effect
    },
  }
}

/** The routes that read changes. */
function effectReads(deps: ReadDeps, store: ISql) {
  const { list, get } = readerOf(deps, store)
  // the weeks that have passed change with the day
  const day = (zone: string) => ({ today: dayOf(deps.now(), zone) })
  return new Elysia({ prefix: '/effects', tags: ['Effects'] })
    .use(deps.api)
    .get('', ({ page }) => page(day), {
      ...listOf({
        query: EffectListQuery,
        page: EffectPage,
        columns: COLUMNS,
        parts: async (sql, orgId, query) => partsOf(sql, await list(sql, orgId, query)),
      }),
      scope: 'cost:read',
      detail: {
        operationId: 'listEffects',
        summary: 'List the changes of how the organization works, and what each made of its cost',
        description: `Newest first. ${METHOD}`,
      },
    })
    .get(
      '/:effect_id',
      ({ cached, params, query, orgId }) => cached((sql) => get(sql, orgId, params.effect_id, query), day),
      {
        scope: 'cost:read',
        query: EffectQuery,
        response: Effect,
        detail: { operationId: 'getEffect', summary: 'One change, and what it made', description: METHOD },
      },
    )
}

const todayOf = async (sql: ISql, orgId: string, now: Date) => dayOf(now, await findZone(sql, orgId))

/** The arm of the caller on a day, today unless given. Throws FORBIDDEN for who has none. */
async function getArm(
  sql: Sql,
  { orgId, memberEmail, person }: Access,
  id: string,
  given: string | undefined,
  now: Date,
): Promise<{ arm: 0 | 1 }> {
  const effect = (await listStoredEffects(sql, orgId)).find((one) => one.id === id)
  if (effect === undefined) throw noEffect()
  const { source, from_day, to_day, members, team } = effect
  const email = memberEmail ?? person?.email ?? ''
  const caller = (await findMemberIds(sql, orgId, [email])).get(email)
  if (caller !== undefined && source !== 'assigned')
    throw fieldError('effect_id', 'has no days that are assigned')
  if (
    caller === undefined ||
    from_day === null ||
    to_day === null ||
    !(members?.includes(caller) ?? (await readMembers(sql, orgId)).get(caller) === team)
  )
    throw new ApiError('FORBIDDEN', 'the caller is not one of the members who were assigned')
  const day = given ?? (await todayOf(sql, orgId, now))
  if (day < from_day || day > to_day) throw fieldError('day', `must be from ${from_day} to ${to_day}`)
  return { arm: armOf(id, caller, daysBetween(from_day, day)) }
}

export function effectRoutes(deps: RouteDeps & { box: SecretBox }) {
  const { read, writes, now, api, inTurn, box } = deps
  const { get } = readerOf(deps, writes)
  return new Elysia({ tags: ['Effects'] })
    .use(effectReads(deps, writes))
    .use(api)
    .post(
      '/effects',
      async ({ body, headers, orgId, actor }) => {
        const idempotency = idempotencyOf(headers['idempotency-key'], body)
        const { id } = await inTurn(orgId, (tx) =>
          answerOnce(tx, box, orgId, idempotency, async () => ({
            id: await addEffect(tx, orgId, actor, body, await todayOf(tx, orgId, now())),
          })),
        )
        return await read(orgId, (sql) => get(sql, orgId, id))
      },
      {
        ...{ scope: 'admin', headers: IdempotencyHeader, response: { 201: Effect } },
        body: NewEffect,
        detail: {
          operationId: 'createEffect',
          summary: 'Record a change, or have days assigned by a draw',
          description:
            'A recorded change names who changed: members, a team or projects; without any of these, all. Days of an assignment ' +
            'are drawn for each member in pairs: on one of two the change is on.',
        },
      },
    )
    .patch(
      '/effects/:effect_id',
      async ({ params, body, orgId, actor }) => {
        const effect = await read(orgId, (sql) => get(sql, orgId, params.effect_id))
        return await inTurn(orgId, (tx) => changeEffect(tx, orgId, actor, effect, body))
      },
      {
        ...{ scope: 'admin', body: EffectChangeBody, response: Effect },
        detail: { operationId: 'updateEffect', summary: 'Rename a change, or dismiss it' },
      },
    )
    .delete(
      '/effects/:effect_id',
      async ({ params, orgId, actor }) => {
        const effect = await read(orgId, (sql) => get(sql, orgId, params.effect_id))
        await inTurn(orgId, (tx) => deleteEffect(tx, orgId, actor, effect))
      },
      {
        scope: 'admin',
        response: { 204: Type.Void({ description: 'Removed' }) },
        detail: {
          operationId: 'deleteEffect',
          summary: 'Remove a recorded or assigned change; a noticed one is dismissed instead',
        },
      },
    )
    .get(
      '/effects/:effect_id/arm',
      ({ params, query, orgId, access }) =>
        read(orgId, (sql) => getArm(sql, access, params.effect_id, query.day, now())),
      {
        scope: 'sessions:write or cost:read',
        query: ArmQuery,
        response: Arm,
        detail: {
          operationId: 'getArm',
          summary: 'The arm of the caller on a day: whether the change is on',
          description: 'For scripts and hooks of an assigned change. Of a member’s own key or session only.',
        },
      },
    )
}
