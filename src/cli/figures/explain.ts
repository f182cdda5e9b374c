import type { Cause } from '../../analysis/scoring/change-parts.ts'
import { ExplainQuery, type Explanation } from '../../features/explain/model.ts'
import { draw } from '../command/table.ts'
import { pageText, title } from './figure-text.ts'
import { money, percent } from './numbers.ts'
import { NONE } from './options.ts'
import { figure, type View } from './source.ts'

/** `explain`: why cost changed against another range. */
export const showExplanation = figure<Explanation>({
  ...{ path: '/cost/explain', query: ExplainQuery, hasOwnRange: true, text },
})

const NAMES: Readonly<Record<Cause, string>> = {
  prompts: 'prompts',
  calls_per_prompt: 'calls per prompt',
  model_mix: 'model mix',
  input_per_call: 'input tokens per call',
  output_per_call: 'output tokens per call',
  cache_read_per_call: 'tokens read from cache per call',
  cache_write_per_call: 'tokens written to cache per call',
  price: 'price',
  undivided: 'not divisible: costs without tokens, sessions without calls',
}

const signed = (dollars: number): string => `${dollars < 0 ? '-' : '+'}${money(Math.abs(dollars))}`
const driver = (value: number | null): string =>
  value === null ? '' : value.toLocaleString('en-US', { maximumFractionDigits: value < 100 ? 1 : 0 })
const bySize = (a: number, b: number): number => Math.abs(b) - Math.abs(a)

function text(explanation: Explanation, view: View): string {
  const { from, to, against, before, after, change, facts } = explanation
  const part = before === 0 ? '' : ` (${percent(Math.abs(change) / before)})`
  const than = `${against.from} to ${against.to}`
  const difference =
    change === 0
      ? `as much as ${than}`
      : `${money(Math.abs(change))}${part} ${change > 0 ? 'more' : 'less'} than ${than}`
  const causes = explanation.parts
    .filter(({ amount }) => amount !== 0)
    .toSorted((a, b) => bySize(a.amount, b.amount))
  const { by = 'project' } = view.parameters
  const keys = pageText(view, explanation, {
    heading: `By ${by}`,
    columns: [
      { head: by.toUpperCase(), value: ({ key }) => key ?? NONE, least: 12 },
      { head: 'BEFORE', value: (each) => money(each.before), right: true },
      { head: 'AFTER', value: (each) => money(each.after), right: true },
      { head: 'CHANGE', value: (each) => signed(each.change), right: true },
      { head: 'MOST OF IT', value: mostOf },
    ],
    bars: { fraction: () => null },
    what: by === 'branch' ? 'branches' : `${by}s`,
    none: 'nothing was spent',
  })
  return [
    title(view.screen, `${from} to ${to} cost ${money(after)}: ${difference}`),
    draw(view.screen, causes, [
      { head: 'CAUSE', value: ({ cause }) => NAMES[cause], least: 16 },
      { head: 'BEFORE', value: (each) => driver(each.before), right: true, spare: 1 },
      { head: 'AFTER', value: (each) => driver(each.after), right: true, spare: 1 },
      { head: 'CHANGE', value: ({ amount }) => signed(amount), right: true },
    ]),
    keys,
    ...(facts.length === 0
      ? []
      : [
          draw(view.screen, facts, [
            { head: 'DAY', value: ({ day }) => day },
            { head: 'WHAT CHANGED', value: (fact) => fact.text, least: 20 },
          ]),
        ]),
  ].join('\n\n')
}

function mostOf({ parts }: Explanation['data'][number]): string {
  const [largest] = Object.entries(parts).toSorted(([, a], [, b]) => bySize(a, b))
  return largest === undefined || largest[1] === 0
    ? ''
    : `${NAMES[largest[0] as Cause]} ${signed(largest[1])}`
}
