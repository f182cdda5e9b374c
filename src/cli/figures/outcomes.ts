import { saidPerMerged } from '../../features/outcomes/cost-per-merged.ts'
import { type Group, type Outcome, type Outcomes, OutcomesQuery } from '../../features/outcomes/model.ts'
import type { Column } from '../command/table.ts'
import { fractionOf, noSessions, pageText } from './figure-text.ts'
import { money, percent, whole } from './numbers.ts'
import { NONE, rangeText } from './options.ts'
import { figure, type View } from './source.ts'

/** `outcomes`: what came of the money, by month unless --by says otherwise. */
export const showOutcomes = figure<Outcomes>({ path: '/outcomes', query: OutcomesQuery, text })

function text(page: Outcomes, view: View): string {
  const { cost, pull_requests, ai_share } = page.total
  const perMerged = saidPerMerged(page.total)
  const by = (view.parameters.by ?? 'month') as Group
  const heading = [
    `Outcomes ${rangeText(view.parameters)}: ${whole(pull_requests.merged)} merged`,
    ...(perMerged === null ? [] : [`${money(perMerged)} each`]),
    ...(ai_share === null ? [] : [`${percent(ai_share)} of the lines by agents`]),
  ].join(', ')
  return pageText(view, page, {
    heading,
    columns: outcomeColumns(by),
    bars: { fraction: (item) => fractionOf(item.cost, cost), colour: () => 'green' },
    what: `${by} rows`,
    none: noSessions(view, 'outcomes'),
  })
}

const share = (head: string, value: (item: Outcome) => number | null, spare: number): Column<Outcome> => ({
  head,
  value: (item) => {
    const amount = value(item)
    return amount === null ? '–' : percent(amount)
  },
  right: true,
  spare,
})

const outcomeColumns = (by: Group): readonly Column<Outcome>[] => [
  { head: by.toUpperCase(), value: ({ key }) => key ?? NONE, least: 8 },
  { head: 'MERGED', value: ({ pull_requests }) => whole(pull_requests.merged), right: true },
  { head: 'OPEN', value: ({ pull_requests }) => whole(pull_requests.open), right: true, spare: 2 },
  { head: 'CLOSED', value: ({ pull_requests }) => whole(pull_requests.closed), right: true, spare: 3 },
  { head: 'COST', value: ({ cost }) => money(cost), right: true },
  { head: 'LINKED', value: ({ linked_cost }) => money(linked_cost), right: true },
  {
    head: 'PER MERGED',
    value: (item) => {
      const cost = saidPerMerged(item)
      return cost === null ? '–' : money(cost)
    },
    right: true,
  },
  share('AGENTS', ({ ai_share }) => ai_share, 1),
  share('AFTER 14 D', ({ survival }) => survival?.['14'].share ?? null, 5),
  share('AFTER 30 D', ({ survival }) => survival?.['30'].share ?? null, 4),
]
