import { Elysia } from 'elysia'
import { checked } from '../../analysis/records/problems.ts'
import { dayOf } from '../../base/dates.ts'
import type { ReadDeps } from '../../http/api.ts'
import { compareProblems } from '../usage/model.ts'
import { Outcomes, OutcomesQuery } from './model.ts'
import { getOutcomes } from './queries.ts'

export const outcomeRoutes = ({ now, api }: ReadDeps) =>
  new Elysia({ tags: ['Risk'] }).use(api).get(
    '/outcomes',
    ({ cached, query, orgId, onlyMember }) =>
      cached(
        (sql, zone) => getOutcomes(sql, orgId, query, { onlyMember, today: dayOf(now(), zone) }),
        // commits grow old
        (zone) => ({ today: dayOf(now(), zone) }),
      ),
    {
      scope: 'cost:read and risk:read',
      query: checked(OutcomesQuery, compareProblems),
      response: Outcomes,
      members: ({ by, member }: OutcomesQuery) => by === 'member' || member !== undefined,
      detail: {
        operationId: 'getOutcomes',
        summary: 'What came of it: pull requests, their cost, agents’ lines and what is left of them',
        description:
          'Periods ascending, else by cost. A pull request counts with each agent that worked on it, in the total once; by agent ' +
          '`linked_cost` and `ai_lines` are the agent’s, and what cannot be divided is null. null also where nothing is divided by.',
      },
    },
  )
