import { Elysia } from 'elysia'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { sourceOf } from '../http/responses/response-cache.ts'
import { getExpertise } from './expertise-queries.ts'
import { Expertise, TeamOverview } from './model.ts'
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
