import { Elysia } from 'elysia'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { sourceOf } from '../http/responses/cached-response.ts'
import { RiskDetail, RiskListQuery, RiskPage } from './model.ts'
import { listRisks } from './queries.ts'
import { getRisk } from './session-queries.ts'

export const riskRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(access(deps))
    .get(
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
    .get(
      '/risk/:pr_id',
      ({ params, access: { orgId } }) =>
        deps.cache.respond(
          orgId,
          sourceOf('/risk/:pr_id', params, () => getRisk(deps.sql, orgId, params.pr_id)),
        ),
      {
        ...guard('risk:read', { response: { 200: RiskDetail } }),
        detail: {
          operationId: 'getRisk',
          summary: 'One risk score, with the sessions that worked on the pull request',
          description:
            'Its sessions are those that name it in `pull_requests`, and those of a commit’s author that were running ' +
            'when one of its `commits` was made, and began within 30 days before; a session of several pull requests is ' +
            'divided in equal parts. Sessions of no pull request by these belong to one by project and `branch`, from 30 ' +
            'days before it was opened until it was merged or closed: the one that is open, or opened next. The ' +
            'repository’s default branch joins none. A record without `project` has that of the repository’s name, ' +
            'with or without its owner.',
          tags: ['Risk'],
        },
      },
    )
