import { Elysia } from 'elysia'
import type { RouteDeps } from '../../http/api.ts'
import { Attention } from './model.ts'
import { getAttention } from './queries.ts'

export const attentionRoutes = ({ read, now, api, config }: RouteDeps) =>
  new Elysia({ tags: ['Alerts'] })
    .use(api)
    .get(
      '/attention',
      ({ orgId, access, viewer, inZone }) =>
        inZone((zone) =>
          read(orgId, (sql) => getAttention(sql, access, viewer, { now: now(), zone, config })),
        ),
      {
        scope: 'cost:read',
        members: 'left out',
        response: Attention,
        detail: {
          operationId: 'getAttention',
          summary: 'List what needs attention: alerts that fire, exceeded budgets, endpoints that fail',
        },
      },
    )
