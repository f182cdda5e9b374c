import { Elysia } from 'elysia'
import type { RouteDeps } from '../../http/api.ts'
import { WhoAmI } from './model.ts'
import { getCaller } from './queries.ts'

export const whoAmIRoutes = ({ read, config, api }: RouteDeps) =>
  new Elysia({ tags: ['Service'] })
    .use(api)
    .get(
      '/whoami',
      ({ orgId, access }) => read(orgId, (sql) => getCaller(sql, access, config.rateLimits[access.plan])),
      {
        scope: 'any key',
        response: WhoAmI,
        detail: {
          operationId: 'whoAmI',
          summary: 'The key or person of the request, the organization and its limits',
        },
      },
    )
