// The commands `effects list` and `effects show`.

import { type Effect, EffectListQuery, EffectQuery } from '../../features/effects/model.ts'
import { isFound, isMoreBetter, saidChange, saidRange, saidVerdict } from '../../features/effects/words.ts'
import type { Pagination } from '../../http/query.ts'
import type { OrgOptions } from '../client/find-server.ts'
import type { Args, Context } from '../command/context.ts'
import type { Colour, Column } from '../command/table.ts'
import { pageText, title } from './figure-text.ts'
import { money, percent } from './numbers.ts'
import { figure } from './source.ts'

const NOT_ASSIGNED = 'Members were not assigned: work that became harder that very week looks the same.'

const colourOf = (effect: Effect): Colour | undefined =>
  isFound(effect) ? ((effect.effect ?? 0) > 0 === isMoreBetter(effect.measure) ? 'green' : 'red') : undefined

const COLUMNS: readonly Column<Effect>[] = [
  { head: 'ID', value: ({ id }) => id },
  { head: 'CHANGE', value: ({ name }) => name, least: 16 },
  { head: 'SINCE', value: ({ change }) => change.first_week, spare: 1 },
  { head: 'WHO', value: ({ changed, others }) => `${changed} / ${others}`, right: true, spare: 2 },
  { head: 'EFFECT', value: (effect) => saidChange(effect, effect.effect), right: true, colour: colourOf },
  { head: 'RANGE', value: saidRange, spare: 3 },
  { head: 'VERDICT', value: saidVerdict, least: 20 },
]

export const showEffects = figure<{ data: Effect[]; pagination: Pagination }>({
  path: '/effects',
  query: EffectListQuery,
  hasOwnRange: true,
  text: (page, view) =>
    pageText(view, page, {
      heading: 'Changes, and what each made of the cost of a prompt',
      columns: COLUMNS,
      bars: { fraction: () => null },
      what: 'changes',
      none: 'no change is noticed or recorded',
      note: `Of a hundred changes without an effect, five would be seen by chance. ${NOT_ASSIGNED}`,
    }),
})

export const showEffect = (context: Context, options: OrgOptions, [id]: Args) =>
  figure<Effect>({
    path: `/effects/${encodeURIComponent(id)}`,
    query: EffectQuery,
    text: (effect, { screen }) =>
      [
        title(screen, `${effect.name}, since the week of ${effect.change.first_week}`),
        '',
        ...linesOf(effect),
      ].join('\n'),
  })(context, options)

function linesOf(effect: Effect): string[] {
  const { evidence, measure, weeks, changed, others, clusters, money: made, placebo, compared_share } = effect
  const { visible_rise: rise, visible_fall: fall } = effect
  const visible = (change: number | null) => saidChange(effect, change).slice(1)
  const parts = Object.entries(made?.parts ?? {}).filter(([, dollars]) => dollars !== 0)
  const rows: [name: string, text: string | null][] = [
    ['verdict', saidVerdict(effect)],
    ['effect', [saidChange(effect, effect.effect), saidRange(effect)].filter(Boolean).join(', ')],
    ['measure', `${measure.replaceAll('_', ' ')}, ${evidence.replaceAll('_', ' ')}`],
    ['weeks', weeks && `${weeks.before} before, ${weeks.after} after`],
    ['who', `${changed} changed, ${others} others`],
    ['clusters', clusters && `${clusters.changed} and ${clusters.others}, by ${clusters.by}`],
    ['visible', rise === null ? null : `a rise of ${visible(rise)}, or a fall of ${visible(fall)}`],
    ['before', placebo && `${saidChange(effect, placebo.effect)}, where nothing must be`],
    ['money', made && `${money(made.extra)} of ${money(made.compared)} after the change`],
    ...parts.map(([part, dollars]): [string, string] => [
      '',
      `${part.replaceAll('_', ' ')} ${money(dollars)}`,
    ]),
    ['compared', compared_share === null ? null : `${percent(compared_share)} of the cost of who changed`],
  ]
  return [
    ...rows.flatMap(([name, text]) => (text === null ? [] : `${(name && `${name}:`).padEnd(12)} ${text}`)),
    ...(evidence === 'assigned' ? [] : ['', NOT_ASSIGNED]),
  ]
}
