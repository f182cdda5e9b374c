import { Elysia } from 'elysia'
import type { ReadDeps } from '../../http/api.ts'
import { PageQuery, sentAsText } from '../../http/query.ts'
import { csvColumns } from '../../http/responses/csv.ts'
import { csvList } from '../../http/whole-list.ts'
import { SessionDetail, SessionListItem, SessionListQuery, SessionNamePage, SessionPage } from './model.ts'
import { listNames } from './name-queries.ts'
import { allSessions, getSession, listSessions } from './queries.ts'

const names = (operationId: string, summary: string) =>
  ({
    scope: 'sessions:read',
    query: PageQuery,
    response: sentAsText(SessionNamePage),
    cached: true,
    detail: { operationId, summary },
  }) as const

export const sessionRoutes = ({ api }: ReadDeps) =>
  new Elysia({ tags: ['Sessions'] })
    .use(api)
    .get(
      '/sessions',
      ({ cached, query, orgId, viewer }) =>
        cached((sql, zone) => listSessions(sql, orgId, query, { ...viewer, zone })),
      {
        scope: 'sessions:read',
        query: SessionListQuery,
        response: sentAsText(SessionPage),
        members: ({ member, include }: SessionListQuery) =>
          member !== undefined || (include === undefined ? false : 'left out'),
        csv: csvList(SessionListQuery, {
          columns: ({ include }) => csvColumns(SessionListItem, include !== undefined),
          all: allSessions,
        }),
        detail: {
          operationId: 'listSessions',
          summary: 'List sessions',
          description:
            'Filtered by project and days, and by one of member, agent and model, `total` is read from sums. Other ' +
            'filters, and orders by cost or turns under them, read the sessions that match; `min_cost`, `max_cost`, ' +
            '`min_quality` and `max_quality` read all that the other filters leave: narrow them by days.',
        },
      },
    )
    .get(
      '/sessions/:session_id',
      ({ cached, params, orgId, viewer }) =>
        cached((sql) => getSession(sql, orgId, params.session_id, viewer)),
      {
        scope: 'sessions:read',
        response: sentAsText(SessionDetail),
        members: 'left out',
        cached: true,
        detail: { operationId: 'getSession', summary: 'One session in full' },
      },
    )
    .get(
      '/projects',
      ({ cached, query, orgId, onlyMember }) =>
        cached((sql) => listNames(sql, orgId, 'project', query, onlyMember)),
      names('listProjects', 'List the projects of sessions by name'),
    )
    .get(
      '/models',
      ({ cached, query, orgId, onlyMember }) =>
        cached((sql) => listNames(sql, orgId, 'model', query, onlyMember)),
      names('listModels', 'List the models of sessions by name'),
    )
    .get(
      '/agents',
      ({ cached, query, orgId, onlyMember }) =>
        cached((sql) => listNames(sql, orgId, 'agent', query, onlyMember)),
      names('listAgents', 'List the coding agents of sessions by name'),
    )
