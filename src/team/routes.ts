import { type RouteDeps, read } from '../http/route.ts'
import { listCoverage } from './coverage-queries.ts'
import { getExpertise } from './expertise-queries.ts'
import { listMachines } from './machine-queries.ts'
import {
  CoverageListQuery,
  CoveragePage,
  Expertise,
  MachineListQuery,
  MachinePage,
  TeamOverview,
} from './model.ts'
import { getTeam } from './queries.ts'

// These need team:read, which shows members.
export const teamRoutes = ({ sql, now }: RouteDeps) => [
  read('/team', 'team:read', {
    id: 'getTeam',
    summary: 'Members and their activity',
    tag: 'Team',
    response: TeamOverview,
    namesMembers: true,
    handler: ({ access: { orgId } }) => getTeam(sql, orgId, now()),
  }),
  read('/team/expertise', 'team:read', {
    id: 'getExpertise',
    summary: 'Who knows which part of the code',
    tag: 'Team',
    response: Expertise,
    namesMembers: true,
    kept: true,
    handler: ({ access: { orgId, own } }) => getExpertise(sql, orgId, own),
  }),
  read('/team/machines', 'team:read', {
    id: 'listMachines',
    summary: 'List the machines that send records, the one seen last first',
    description:
      'Those that name themselves by `X-Machine` in POST /v1/sync, by whose sessions they send: those of the key’s member, else of the one user of a request’s sessions.',
    tag: 'Team',
    query: MachineListQuery,
    response: MachinePage,
    namesMembers: true,
    kept: true,
    handler: ({ query, access: { orgId, own } }) => listMachines(sql, orgId, query, own),
  }),
  read('/team/coverage', 'team:read', {
    id: 'listCoverage',
    summary: 'How much of the sessions transcripts and telemetry tell, by member and agent',
    description:
      'Tokens are the sum of all four kinds. Telemetry is known to lose a part of what happens: `captured_share` says how much of it arrived.',
    tag: 'Team',
    query: CoverageListQuery,
    response: CoveragePage,
    namesMembers: true,
    kept: true,
    handler: ({ query, access: { orgId, own } }) => listCoverage(sql, orgId, query, own),
  }),
]
