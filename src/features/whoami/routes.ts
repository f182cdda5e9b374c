import { Elysia } from 'elysia'
import type { RouteDeps } from '../../http/api.ts'
import { WhoAmI } from './model.ts'
import { getCaller } from './queries.ts'

export const whoAmIRoutes = ({ sql, config, api }: RouteDeps) =>
  new Elysia({ tags: ['Service'] }).use(api).get(
    '/whoami',
    async ({ access: { orgId, keyId, person, plan, scopes } }) => {
      const perMinute = config.rateLimits[plan]
      const by = person === null ? { keyId: keyId ?? '' } : { userId: person.userId }
      return {
        ...(await getCaller(sql, orgId, by, [...scopes])),
        scopes: [...scopes],
        ...(person === null ? {} : { csrf_token: person.csrfToken }),
        limits: { read: perMinute, sync: perMinute },
      }
    },
    {
      scope: 'any key',
      response: WhoAmI,
      detail: {
        operationId: 'whoAmI',
        summary: 'The key or person of the request, the organization and its limits',
      },
    },
  )
