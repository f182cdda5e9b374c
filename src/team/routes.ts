import { Elysia } from 'elysia'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { sourceOf } from '../http/responses/cached-response.ts'
import { getExpertise } from './expertise-queries.ts'
import { listMachines } from './machine-queries.ts'
import { Expertise, MachineListQuery, MachinePage, TeamOverview } from './model.ts'
import { getTeam } from './queries.ts'

export const teamRoutes = (deps: RouteDeps) =>
  new Elysia()
    .use(access(deps))
    .get('/team', ({ access: { orgId } }) => getTeam(deps.sql, orgId, deps.now()), {
      ...guard('team:read', { response: { 200: TeamOverview } }),
      detail: { operationId: 'getTeam', summary: 'Members and their activity', tags: ['Team'] },
    })
    .get(
      '/team/expertise',
      ({ access: { orgId } }) =>
        deps.cache.respond(
          orgId,
          sourceOf('/team/expertise', {}, () => getExpertise(deps.sql, orgId)),
        ),
      {
        ...guard('team:read', { response: { 200: Expertise } }),
        detail: { operationId: 'getExpertise', summary: 'Who knows which part of the code', tags: ['Team'] },
      },
    )
    .get(
      '/team/machines',
      ({ query, access: { orgId } }) =>
        deps.cache.respond(
          orgId,
          sourceOf('/team/machines', query, () => listMachines(deps.sql, orgId, query)),
        ),
      {
        ...guard('team:read', { query: MachineListQuery, response: { 200: MachinePage } }),
        detail: {
          operationId: 'listMachines',
          summary: 'List the machines that send records, the one seen last first',
          description:
            'Those that name themselves by `X-Machine` in POST /v1/sync, by whose sessions they send: those of the key’s member, else of the one user of a request’s sessions.',
          tags: ['Team'],
        },
      },
    )
