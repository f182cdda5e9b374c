import { Elysia } from 'elysia'
import { plainPath } from '../../analysis/records/commit.ts'
import type { ReadDeps } from '../../http/api.ts'
import { PageQuery } from '../../http/query.ts'
import { coverageList } from './coverage-queries.ts'
import { getExpertise } from './expertise-queries.ts'
import { listMachines } from './machine-queries.ts'
import { getTeam } from './member-queries.ts'
import { Expertise, ExpertiseQuery, MachinePage, TeamOverview } from './team-model.ts'
import { whoKnowsPath } from './who-knows.ts'

// team:read shows members
const needs = { scope: 'team:read', members: true } as const

export const teamRoutes = ({ read, now, api }: ReadDeps) =>
  new Elysia({ prefix: '/team', tags: ['Team'] })
    .use(api)
    .get('', ({ orgId }) => read(orgId, (sql) => getTeam(sql, orgId, now())), {
      ...needs,
      response: TeamOverview,
      detail: { operationId: 'getTeam', summary: 'Members and their activity' },
    })
    .get(
      '/expertise',
      ({ cached, query: { path }, orgId, onlyMember }) =>
        cached(async (sql) => {
          const expertise = await getExpertise(sql, orgId, onlyMember)
          return path === undefined ? expertise : await whoKnowsPath(sql, orgId, expertise, plainPath(path))
        }),
      {
        ...needs,
        query: ExpertiseQuery,
        response: Expertise,
        detail: { operationId: 'getExpertise', summary: 'Who knows which part of the code, or a file' },
      },
    )
    .get(
      '/machines',
      ({ cached, query, orgId, onlyMember }) => cached((sql) => listMachines(sql, orgId, query, onlyMember)),
      {
        ...needs,
        query: PageQuery,
        response: MachinePage,
        detail: {
          operationId: 'listMachines',
          summary: 'List the machines that send records, the one seen last first',
          description:
            'Those that name themselves by `X-Machine` in POST /v1/sync, by whose sessions they send: those of the key’s member, else of the one user of a request’s sessions.',
        },
      },
    )
    .get('/coverage', ({ page }) => page(), {
      ...coverageList,
      ...needs,
      detail: {
        operationId: 'listCoverage',
        summary: 'How much of the sessions transcripts and telemetry tell, by member and agent',
        description:
          'Tokens are the sum of all four kinds. Telemetry is known to lose a part of what happens: `captured_share` says how much of it arrived.',
      },
    })
