import { Elysia } from 'elysia'
import type { RouteDeps } from '../../http/api.ts'
import { IdempotencyHeader, idempotencyOf } from '../../webhooks/idempotency.ts'
import { createRule, type Rules, updateRule, type Wanted } from './changes.ts'
import { shownDestination } from './destinations.ts'
import { Digest, DigestChangeBody, DigestList, NewDigestBody, nextHour } from './digest-model.ts'
import { digestNotice } from './digest-notice.ts'
import { getRule, listRules, type Rule } from './rule-queries.ts'
import { type RuleRouteDeps, sharedRoutes } from './rule-routes.ts'

function digestOf({ id, definition, enabled, last_sent_at }: Rule<'digest'>): Digest {
  const { destinations, ...fields } = definition
  const last = last_sent_at?.toISOString() ?? null
  return { id, ...fields, destinations: destinations.map(shownDestination), enabled, last_sent_at: last }
}

const DIGESTS: Rules<'digest', Digest> = {
  ...{ kind: 'digest', most: 20, show: digestOf, firstDue: nextHour },
  renewed({ definition: before, enabled }, { definition: after, enabled: isEnabled }, now) {
    const isSame = before.weekday === after.weekday && before.hour === after.hour && enabled === isEnabled
    return isSame ? {} : { due_at: nextHour(after, now) }
  },
}

const DEFAULTS: Rule<'digest'>['definition'] = {
  ...{ name: '', weekday: 'monday', hour: 8, destinations: [{ type: 'webhook' }] },
}

function wantedOf(body: DigestChangeBody, before?: Rule<'digest'>): Wanted<'digest'> {
  const { destinations, enabled, ...change } = body
  const { destinations: stored, ...said } = before?.definition ?? DEFAULTS
  return {
    define: async () => ({ ...said, ...change }),
    destinations: destinations ?? stored.map(shownDestination),
    enabled: enabled ?? before?.enabled ?? true,
  }
}

export const digestRoutes = (routeDeps: RouteDeps, deps: RuleRouteDeps) => {
  const { sql, api } = routeDeps
  return new Elysia().use(sharedRoutes(routeDeps, deps, { kind: 'digest', noticeOf: digestNotice })).use(
    new Elysia({ prefix: '/digests', tags: ['Alerts'] })
      .use(api)
      .get(
        '',
        async ({ access: { orgId } }) => ({ data: (await listRules(sql, orgId, 'digest')).map(digestOf) }),
        {
          scope: 'admin or cost:read',
          response: DigestList,
          detail: { operationId: 'listDigests', summary: 'List digests, oldest first' },
        },
      )
      .post(
        '',
        async ({ body, headers, path, set, status, access: { orgId, actor } }) => {
          const idempotency = idempotencyOf(headers['idempotency-key'], body)
          const made = await createRule(deps, DIGESTS, { orgId, actor, idempotency }, wantedOf(body))
          set.headers.location = `${path}/${made.id}`
          return status(201, made)
        },
        {
          scope: 'admin',
          headers: IdempotencyHeader,
          body: NewDigestBody,
          response: { 201: Digest },
          detail: { operationId: 'createDigest', summary: 'Add a digest' },
        },
      )
      .get(
        '/:digest_id',
        async ({ params, access: { orgId } }) =>
          digestOf(await getRule(sql, orgId, 'digest', params.digest_id)),
        {
          scope: 'admin or cost:read',
          response: Digest,
          detail: { operationId: 'getDigest', summary: 'One digest' },
        },
      )
      .patch(
        '/:digest_id',
        async ({ params, body, access: { orgId, actor } }) => {
          const before = await getRule(sql, orgId, 'digest', params.digest_id)
          return await updateRule(deps, DIGESTS, { orgId, actor, before }, (rule) => wantedOf(body, rule))
        },
        {
          scope: 'admin',
          body: DigestChangeBody,
          response: Digest,
          detail: { operationId: 'updateDigest', summary: 'Change the fields of a digest that are given' },
        },
      ),
  )
}
