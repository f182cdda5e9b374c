import { dateOf } from '../dates.ts'
import { type RouteDeps, read } from '../http/route.ts'
import { Outcomes, OutcomesQuery } from './model.ts'
import { getOutcomes } from './queries.ts'

export const outcomeRoutes = ({ sql, now }: RouteDeps) => [
  read('/outcomes', 'cost:read and risk:read', {
    id: 'getOutcomes',
    summary: 'What came of it: pull requests, their cost, agents’ lines and what is left of them',
    description:
      'Periods ascending, else by cost. A pull request counts with each agent that worked on it, in the total once; by agent ' +
      '`linked_cost` and `ai_lines` are the agent’s, and what cannot be divided is null. null also where nothing is divided by.',
    tag: 'Risk',
    query: OutcomesQuery,
    response: Outcomes,
    namesMembers: ({ by, member }) => by === 'member' || member !== undefined,
    // commits grow old
    kept: () => ({ today: dateOf(now()) }),
    handler: ({ query, access: { orgId, own } }) => getOutcomes(sql, orgId, query, { own, now: now() }),
  }),
]
