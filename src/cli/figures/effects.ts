import { type Effect, EffectListQuery, EffectQuery } from '../../features/effects/model.ts'
import { isFound, isMoreBetter, saidChange, saidRange, saidVerdict } from '../../features/effects/said.ts'
import type { Pagination } from '../../http/query.ts'
import type { OrgOptions } from '../client/server.ts'
import type { Args, Context } from '../command/context.ts'
import type { Colour, Column } from '../command/table.ts'
import { money, percent } from './numbers.ts'
import { figure } from './source.ts'
import { pageText, title } from './text.ts'

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

/** `effects list`: what changed and what it made, newest first. */
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
  const row = (name: string, text: string) => `${(name && `${name}:`).padEnd(12)} ${text}`
  const parts = Object.entries(made?.parts ?? {}).filter(([, dollars]) => dollars !== 0)
  return [
    row('verdict', saidVerdict(effect)),
    row('effect', [saidChange(effect, effect.effect), saidRange(effect)].filter(Boolean).join(', ')),
    row('measure', `${measure.replaceAll('_', ' ')}, ${evidence.replaceAll('_', ' ')}`),
    ...(weeks === null ? [] : [row('weeks', `${weeks.before} before, ${weeks.after} after`)]),
    row('who', `${changed} changed, ${others} others`),
    ...(clusters === null
      ? []
      : [row('clusters', `${clusters.changed} and ${clusters.others}, by ${clusters.by}`)]),
    ...(effect.visible_rise === null
      ? []
      : [
          row(
            'visible',
            `a rise of ${saidChange(effect, effect.visible_rise).slice(1)}, or a fall of ${saidChange(effect, effect.visible_fall).slice(1)}`,
          ),
        ]),
    ...(placebo === null
      ? []
      : [row('before', `${saidChange(effect, placebo.effect)}, where nothing must be`)]),
    ...(made === null
      ? []
      : [row('money', `${money(made.extra)} of ${money(made.compared)} after the change`)]),
    ...parts.map(([part, dollars]) => row('', `${part.replaceAll('_', ' ')} ${money(dollars)}`)),
    ...(compared_share === null
      ? []
      : [row('compared', `${percent(compared_share)} of the cost of who changed`)]),
    ...(evidence === 'assigned' ? [] : ['', NOT_ASSIGNED]),
  ]
}
