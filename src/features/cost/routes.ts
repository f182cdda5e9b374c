import { Elysia } from 'elysia'
import { checked } from '../../analysis/records/problems.ts'
import { loadGuesses } from '../../analysis/scoring/price-guess.ts'
import { dayOf } from '../../base/dates.ts'
import type { ReadDeps } from '../../http/api.ts'
import { sentAsText } from '../../http/query.ts'
import { compareProblems } from '../usage/model.ts'
import type { BreakdownQuery } from './breakdown-model.ts'
import { breakdownList } from './breakdown-queries.ts'
import { FirstDays, FirstDaysQuery } from './first-days-model.ts'
import { listFirstDays } from './first-days-queries.ts'
import { CostQuery, CostSummary, CostTrend, CostTrendQuery, PriceGuess, PriceGuessQuery } from './model.ts'
import { getCost, getCostTrend } from './queries.ts'

const BY_CALLS =
  'Cost, tokens and turns stand on the day of the call, in the organization’s time zone; a session counts on the day on which ' +
  'it began.'

export const costRoutes = ({ now, api }: ReadDeps) =>
  new Elysia({ prefix: '/cost', tags: ['Cost'] })
    .use(api)
    .get(
      '',
      ({ cached, query, orgId }) =>
        cached(
          (sql, zone) => getCost(sql, orgId, query, dayOf(now(), zone)),
          // the month's projection changes with the day
          (zone) => ({ today: dayOf(now(), zone) }),
        ),
      {
        scope: 'cost:read',
        query: checked(CostQuery, compareProblems),
        response: sentAsText(CostSummary),
        detail: { operationId: 'getCost', summary: 'Cost summary', description: BY_CALLS },
      },
    )
    .get(
      '/first-days',
      ({ cached, query, orgId, onlyMember }) => cached((sql) => listFirstDays(sql, orgId, query, onlyMember)),
      {
        scope: 'cost:read',
        query: FirstDaysQuery,
        members: ({ by }: FirstDaysQuery) => by === 'member',
        response: FirstDays,
        detail: {
          operationId: 'listFirstDays',
          summary: 'List keys in the order of their first appearance, by which charts colour them',
        },
      },
    )
    .get('/breakdown', ({ page }) => page(), {
      ...breakdownList,
      scope: 'cost:read',
      members: ({ by, and_by, member }: BreakdownQuery) =>
        by === 'member' || and_by === 'member' || member !== undefined,
      detail: {
        operationId: 'getCostBreakdown',
        summary: 'Cost and tokens by project, member, team, model, agent, branch or time',
        description:
          'Sums of the sessions that match, by one key or by pairs of two. What a session of several models used is ' +
          `divided among them; the session counts once under each. ${BY_CALLS}`,
      },
    })
    .get(
      '/price-guess',
      async ({ query }) =>
        (await loadGuesses())(query.name, now().toISOString()) ?? { nearest: null, line: null },
      {
        scope: 'cost:read',
        query: PriceGuessQuery,
        response: PriceGuess,
        detail: {
          operationId: 'getPriceGuess',
          summary: 'Guess the price of a model without a known one',
          description:
            'A guess: the price of the nearest model of its family. Nothing is priced by it until somebody puts the line ' +
            'into the file of `MODEL_PRICES` and runs `reprice`.',
        },
      },
    )
    .get('/trend', ({ cached, query, orgId }) => cached((sql) => getCostTrend(sql, orgId, query)), {
      scope: 'cost:read',
      query: CostTrendQuery,
      response: sentAsText(CostTrend),
      detail: { operationId: 'getCostTrend', summary: 'Cost over time', description: BY_CALLS },
    })
