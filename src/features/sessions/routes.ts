// GET /sessions, /sessions/:session_id, /projects, /models and /agents.

import { Elysia } from 'elysia'
import type { ReadDeps } from '../../http/api.ts'
import { sentAsText } from '../../http/query.ts'
import { getSession } from './detail-queries.ts'
import { sessionList } from './list-queries.ts'
import { SessionDetail, type SessionListQuery } from './model.ts'
import { nameList } from './name-queries.ts'

const names = (column: 'project' | 'model' | 'agent', operationId: string, summary: string) =>
  ({
    ...nameList(column),
    scope: 'sessions:read',
    detail: { operationId, summary },
  }) as const

export const sessionRoutes = ({ api }: ReadDeps) =>
  new Elysia({ tags: ['Sessions'] })
    .use(api)
    .get('/sessions', ({ page }) => page(), {
      ...sessionList,
      scope: 'sessions:read',
      members: ({ member, include }: SessionListQuery) =>
        member !== undefined || (include === undefined ? false : 'left out'),
      detail: {
        operationId: 'listSessions',
        summary: 'List sessions',
        description:
          'Filtered by project and days, and by one of member, agent and model, `total` is read from sums. Other ' +
          'filters, and orders by cost or turns under them, read the sessions that match; `min_cost`, `max_cost`, ' +
          '`min_quality` and `max_quality` read all that the other filters leave: narrow them by days.',
      },
    })
    .get(
      '/sessions/:session_id',
      ({ cached, params, orgId, viewer }) =>
        cached((sql) => getSession(sql, orgId, params.session_id, viewer)),
      {
        scope: 'sessions:read',
        response: sentAsText(SessionDetail),
        members: 'left out',
        detail: { operationId: 'getSession', summary: 'One session in full' },
      },
    )
    .get(
      '/projects',
      ({ page }) => page(),
      names('project', 'listProjects', 'List the projects of sessions by name'),
    )
    .get('/models', ({ page }) => page(), names('model', 'listModels', 'List the models of sessions by name'))
    .get(
      '/agents',
      ({ page }) => page(),
      names('agent', 'listAgents', 'List the coding agents of sessions by name'),
    )
