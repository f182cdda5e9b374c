import type { CsvColumns } from '../http/responses/csv.ts'
import { type RouteDeps, read } from '../http/route.ts'
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

export function sessionRoutes({ sql }: RouteDeps) {
  const names = (path: string, named: Named, described: { id: string; summary: string }) =>
    read(path, 'sessions:read', {
      ...described,
      tag: 'Sessions',
      query: NamesQuery,
      response: SessionNamePage,
      kept: true,
      handler: ({ query, access: { orgId } }) => listNames(sql, orgId, named, query),
    })
  return [
    read('/sessions', 'sessions:read', {
      id: 'listSessions',
      summary: 'List sessions',
      description:
        'Filtered by project and days, and by one of member, agent and model, `total` is read from sums. Other ' +
        'filters, and orders by cost or turns under them, read the sessions that match; `min_cost`, `max_cost`, ' +
        '`min_quality` and `max_quality` read all that the other filters leave: narrow them by days.',
      tag: 'Sessions',
      query: SessionListQuery,
      response: SessionPage,
      namesMembers: ({ member }) => member !== undefined,
      csv: COLUMNS,
      kept: true,
      handler: ({ query, access: { orgId, own } }) =>
        listSessions(sql, orgId, own === null ? query : { ...query, member: own.id }),
    }),
    read('/sessions/:session_id', 'sessions:read', {
      id: 'getSession',
      summary: 'One session in full',
      tag: 'Sessions',
      response: SessionDetail,
      namesMembers: 'left out',
      kept: true,
      handler: ({ params, access: { orgId, own }, hidesMembers }) =>
        getSession(sql, orgId, params.session_id, { hidesUser: hidesMembers, own }),
    }),
    names('/projects', 'project', {
      id: 'listProjects',
      summary: 'List the projects of sessions by name',
    }),
    names('/models', 'model', { id: 'listModels', summary: 'List the models of sessions by name' }),
    names('/agents', 'agent', { id: 'listAgents', summary: 'List the coding agents of sessions by name' }),
  ]
}
