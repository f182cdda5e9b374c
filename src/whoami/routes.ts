import { Elysia } from 'elysia'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { WhoAmI } from './model.ts'
import { getCaller } from './queries.ts'

export const whoAmIRoutes = (deps: RouteDeps) =>
  new Elysia().use(access(deps)).get(
    '/whoami',
    async ({ access: { orgId, keyId, person, plan, scopes } }): Promise<WhoAmI> => {
      const perMinute = deps.config.rateLimits[plan]
      const by = person === null ? { keyId: keyId ?? '' } : { userId: person.userId }
      return {
        ...(await getCaller(deps.sql, orgId, by)),
        scopes: [...scopes],
        ...(person === null ? {} : { csrf_token: person.csrfToken }),
        limits: { read: perMinute, sync: perMinute },
      }
    },
    {
      ...guard('any key', { response: { 200: WhoAmI } }),
      detail: {
        operationId: 'whoAmI',
        summary: 'The key or person of the request, the organization and its limits',
        tags: ['Service'],
      },
    },
  )
