import { Elysia } from 'elysia'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { errorResponses, page } from '../http/query.ts'
import { SessionDetail, SessionListQuery, SessionPage } from './model.ts'
import { getSession, listSessions } from './queries.ts'

export const sessionRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(access(deps))
    .get(
      '/sessions',
      async ({ query, access: { orgId } }) => {
        const { rows, total } = await listSessions(deps.sql, orgId, query)
        return page(rows, query, total)
      },
      {
        ...guard('sessions:read', { query: SessionListQuery }),
        response: { 200: SessionPage, ...errorResponses },
        detail: { summary: 'List sessions', tags: ['Sessions'] },
      },
    )
    .get(
      '/sessions/:session_id',
      ({ params, access: { orgId } }) => getSession(deps.sql, orgId, params.session_id),
      {
        ...guard('sessions:read'),
        response: { 200: SessionDetail, ...errorResponses },
        detail: { summary: 'One session in full', tags: ['Sessions'] },
      },
    )
