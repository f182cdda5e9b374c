import { Elysia } from 'elysia'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { sourceOf } from '../http/responses/response-cache.ts'
import { SessionDetail, SessionListQuery, SessionPage } from './model.ts'
import { getSession, listSessions } from './queries.ts'

export const sessionRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(access(deps))
    .get(
      '/sessions',
      ({ query, access: { orgId } }) =>
        deps.cache.respond(
          orgId,
          sourceOf('/sessions', query, () => listSessions(deps.sql, orgId, query)),
        ),
      {
        ...guard('sessions:read', { query: SessionListQuery, response: { 200: SessionPage } }),
        detail: { operationId: 'listSessions', summary: 'List sessions', tags: ['Sessions'] },
      },
    )
    .get(
      '/sessions/:session_id',
      ({ params, access: { orgId } }) =>
        deps.cache.respond(
          orgId,
          sourceOf('/sessions/:session_id', params, () => getSession(deps.sql, orgId, params.session_id)),
        ),
      {
        ...guard('sessions:read', { response: { 200: SessionDetail } }),
        detail: { operationId: 'getSession', summary: 'One session in full', tags: ['Sessions'] },
      },
    )
