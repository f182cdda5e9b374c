import { type RouteDeps, read } from '../http/route.ts'
import { WhoAmI } from './model.ts'
import { getCaller } from './queries.ts'

export const whoAmIRoutes = ({ sql, config }: RouteDeps) => [
  read('/whoami', 'any key', {
    id: 'whoAmI',
    summary: 'The key or person of the request, the organization and its limits',
    tag: 'Service',
    response: WhoAmI,
    handler: async ({ access: { orgId, keyId, person, plan, scopes } }): Promise<WhoAmI> => {
      const perMinute = config.rateLimits[plan]
      const by = person === null ? { keyId: keyId ?? '' } : { userId: person.userId }
      return {
        ...(await getCaller(sql, orgId, by, [...scopes])),
        scopes: [...scopes],
        ...(person === null ? {} : { csrf_token: person.csrfToken }),
        limits: { read: perMinute, sync: perMinute },
      }
    },
  }),
]
