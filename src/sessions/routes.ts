import { Elysia } from 'elysia'
import { access, guard, type RouteDeps, refuseHidden } from '../http/access.ts'
import { sourceOf } from '../http/responses/cached-response.ts'
import { type CsvColumns, pageSource } from '../http/responses/csv.ts'
import {
  NamesQuery,
  SessionDetail,
  type SessionListItem,
  SessionListQuery,
  SessionNamePage,
  SessionPage,
} from './model.ts'
import { listNames, type Named } from './name-queries.ts'
import { getSession, listSessions } from './queries.ts'

const COLUMNS: CsvColumns<SessionListItem> = {
  id: ({ id }) => id,
  project_name: ({ project_name }) => project_name,
  turns: ({ turns }) => turns,
  estimated_cost: ({ estimated_cost }) => estimated_cost,
  quality_score: ({ quality_score }) => quality_score,
  created_at: ({ created_at }) => created_at,
}

export const sessionRoutes = (deps: RouteDeps) => {
  const namesOf =
    (route: string, named: Named) =>
    ({ query, access: { orgId } }: { query: NamesQuery; access: { orgId: string } }) =>
      deps.cache.respond(
        orgId,
        sourceOf(route, query, () => listNames(deps.sql, orgId, named, query)),
      )
  const names = guard('sessions:read', { query: NamesQuery, response: { 200: SessionNamePage } })
  return new Elysia()
    .use(access(deps))
    .get(
      '/sessions',
      ({ query, request, access: caller }) => {
        if (query.member !== undefined) refuseHidden(caller)
        const { orgId } = caller
        const list = () => listSessions(deps.sql, orgId, query)
        return deps.cache.respond(orgId, pageSource(request, '/sessions', query, list, COLUMNS))
      },
      {
        ...guard('sessions:read', { query: SessionListQuery, response: { 200: SessionPage }, csv: true }),
        detail: {
          operationId: 'listSessions',
          summary: 'List sessions',
          description:
            'Filtered by project and days, and by one of member, agent and model, `total` is read from sums. Other ' +
            'filters, and orders by cost or turns under them, read the sessions that match; `min_cost`, `max_cost`, ' +
            '`min_quality` and `max_quality` read all that the other filters leave: narrow them by days.',
          tags: ['Sessions'],
        },
      },
    )
    .get(
      '/sessions/:session_id',
      ({ params, access: { orgId, hidesMembers } }) =>
        deps.cache.respond(
          orgId,
          sourceOf('/sessions/:session_id', { ...params, hidesMembers }, () =>
            getSession(deps.sql, orgId, params.session_id, { hidesUser: hidesMembers }),
          ),
        ),
      {
        ...guard('sessions:read', { response: { 200: SessionDetail } }),
        detail: { operationId: 'getSession', summary: 'One session in full', tags: ['Sessions'] },
      },
    )
    .get('/projects', namesOf('/projects', 'project'), {
      ...names,
      detail: {
        operationId: 'listProjects',
        summary: 'List the projects of sessions by name',
        tags: ['Sessions'],
      },
    })
    .get('/models', namesOf('/models', 'model'), {
      ...names,
      detail: {
        operationId: 'listModels',
        summary: 'List the models of sessions by name',
        tags: ['Sessions'],
      },
    })
    .get('/agents', namesOf('/agents', 'agent'), {
      ...names,
      detail: {
        operationId: 'listAgents',
        summary: 'List the coding agents of sessions by name',
        tags: ['Sessions'],
      },
    })
}
