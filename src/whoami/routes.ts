import { Elysia } from 'elysia'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { WhoAmI } from './model.ts'
import { getKeyOwner } from './queries.ts'

export const whoAmIRoutes = (deps: RouteDeps) =>
  new Elysia().use(access(deps)).get(
    '/whoami',
    async ({ access: { orgId, keyId, plan } }) => {
      const perMinute = deps.config.rateLimits[plan]
      return { ...(await getKeyOwner(deps.sql, orgId, keyId)), limits: { read: perMinute, sync: perMinute } }
    },
    {
      ...guard('any key', { response: { 200: WhoAmI } }),
      detail: {
        operationId: 'whoAmI',
        summary: 'The key of the request, its organization and limits',
        tags: ['Service'],
      },
    },
  )
