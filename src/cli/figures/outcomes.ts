import { type Group, type Outcome, type Outcomes, OutcomesQuery } from '../../outcomes/model.ts'
import type { Context } from '../command/context.ts'
import { type Column, draw, type Screen } from '../command/table.ts'
import { money, percent, whole } from './numbers.ts'
import { parametersOf, rangeText, withRange } from './options.ts'
import { type FigureOptions, type Source, showRoute } from './source.ts'
import { emptyPage, noSessions, pageLine, title } from './text.ts'

/** `outcomes`: what came of the money, by month unless --by says otherwise. */
export async function showOutcomes(context: Context, options: FigureOptions): Promise<void> {
  const parameters = withRange(parametersOf(OutcomesQuery, options))
  const by = (parameters.by ?? 'month') as Group
  const text = ({ data, pagination, total }: Outcomes, source: Source, screen: Screen) => {
    if (data.length === 0) return emptyPage(pagination) ?? noSessions(source, 'outcomes', parameters)
    const perMerged = total.cost_per_merged_pull_request
    const heading = [
      `Outcomes ${rangeText(parameters)}: ${whole(total.pull_requests.merged)} merged`,
      ...(perMerged === null ? [] : [`${money(perMerged)} each`]),
      ...(total.ai_share === null ? [] : [`${percent(total.ai_share)} of the lines by agents`]),
    ].join(', ')
    return [
      title(screen, heading),
      draw(screen, data, columnsOf(by), {
        // share of the whole cost
        fraction: ({ cost }) => (total.cost === 0 ? 0 : cost / total.cost),
        colour: () => 'green',
      }),
      pageLine(pagination, data.length, `${by} rows`),
    ].join('\n\n')
  }
  await showRoute(context, options, '/outcomes', parameters, text)
}

const share = (head: string, value: (item: Outcome) => number | null, spare: number): Column<Outcome> => ({
  head,
  value: (item) => {
    const found = value(item)
    return found === null ? '–' : percent(found)
  },
  right: true,
  spare,
})

const columnsOf = (by: Group): readonly Column<Outcome>[] => [
  { head: by.toUpperCase(), value: ({ key }) => key ?? '(none)', least: 8 },
  { head: 'MERGED', value: ({ pull_requests }) => whole(pull_requests.merged), right: true },
  { head: 'OPEN', value: ({ pull_requests }) => whole(pull_requests.open), right: true, spare: 2 },
  { head: 'CLOSED', value: ({ pull_requests }) => whole(pull_requests.closed), right: true, spare: 3 },
  { head: 'COST', value: ({ cost }) => money(cost), right: true },
  { head: 'LINKED', value: ({ linked_cost }) => money(linked_cost), right: true },
  {
    head: 'PER MERGED',
    value: ({ cost_per_merged_pull_request: cost }) => (cost === null ? '–' : money(cost)),
    right: true,
  },
  share('AGENTS', ({ ai_share }) => ai_share, 1),
  share('AFTER 14 D', ({ survival }) => survival?.['14'].share ?? null, 5),
  share('AFTER 30 D', ({ survival }) => survival?.['30'].share ?? null, 4),
]
