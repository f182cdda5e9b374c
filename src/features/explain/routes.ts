import { Elysia } from 'elysia'
import { checked } from '../../analysis/records/problems.ts'
import { loadPriceHistory } from '../../analysis/scoring/base-prices.ts'
import { dayOf } from '../../base/dates.ts'
import type { Log } from '../../base/log.ts'
import { createPriceSource } from '../../base/model-prices.ts'
import type { ReadDeps } from '../../http/api.ts'
import { getExplanation } from './explanation.ts'
import { ExplainQuery, Explanation, explainProblems } from './model.ts'

export function explainRoutes({ now, api, config, log }: ReadDeps & { log: Log }) {
  const loadPrices = createPriceSource(config.modelPrices, log, loadPriceHistory)
  return new Elysia({ prefix: '/cost', tags: ['Cost'] }).use(api).get(
    '/explain',
    ({ cached, query, orgId, onlyMember }) =>
      cached(
        async (sql, zone) =>
          getExplanation(sql, orgId, query, { prices: await loadPrices(), now: now(), zone, onlyMember }),
        // the days without a range change with the day
        (zone) => ({ today: dayOf(now(), zone) }),
      ),
    {
      scope: 'cost:read',
      query: checked(ExplainQuery, explainProblems),
      response: Explanation,
      members: ({ by, member }: ExplainQuery) => by === 'member' || member !== undefined,
      detail: {
        operationId: 'explainCost',
        summary: 'Why cost changed: prompts, calls, models, tokens, prices',
        description:
          'The change of cost against another range, divided among its causes by logarithmic means (Sato and Vartia): exact, without a ' +
          'rest, and independent of the order of causes. Prices are those of the comparison’s first day. See docs/figures.md.',
      },
    },
  )
}
