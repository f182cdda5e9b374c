import { Elysia } from 'elysia'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { sourceOf } from '../http/responses/response-cache.ts'
import { RiskListQuery, RiskPage } from './model.ts'
import { listRisks } from './queries.ts'

export const riskRoutes = (deps: RouteDeps) =>
  new Elysia().use(access(deps)).get(
    '/risk',
    ({ query, access: { orgId } }) =>
      deps.cache.respond(
        orgId,
        sourceOf('/risk', query, () => listRisks(deps.sql, orgId, query)),
      ),
    {
      ...guard('risk:read', { query: RiskListQuery, response: { 200: RiskPage } }),
      detail: {
        operationId: 'listRisks',
        summary: 'List risk scores of pull requests, newest first',
        tags: ['Risk'],
      },
    },
  )
