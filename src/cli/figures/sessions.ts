import type { Static } from '@sinclair/typebox'
import { type SessionListItem, SessionListQuery, type SessionPage } from '../../sessions/model.ts'
import type { Context } from '../command/context.ts'
import { type Column, colourOfScore, draw, type Screen } from '../command/table.ts'
import { minute, money, whole } from './numbers.ts'
import { parametersOf, rangeText, withRange } from './options.ts'
import { type FigureOptions, type Source, showRoute } from './source.ts'
import { emptyPage, noSessions, pageLine, title } from './text.ts'

/** `sessions`: a page of the list, with bars of what each cost. */
export async function showSessions(context: Context, options: FigureOptions): Promise<void> {
  const parameters = withRange(parametersOf(SessionListQuery, options))
  const text = (page: Static<typeof SessionPage>, source: Source, screen: Screen) =>
    page.data.length === 0
      ? (emptyPage(page.pagination) ?? noSessions(source, 'sessions', parameters))
      : pageText(screen, page, `Sessions ${rangeText(parameters)}; times are UTC`)
  await showRoute(context, options, '/sessions', parameters, text)
}

const COLUMNS: readonly Column<SessionListItem>[] = [
  { head: 'SESSION', value: ({ id }) => id, least: 16 },
  { head: 'PROJECT', value: ({ project_name }) => project_name, least: 8 },
  { head: 'BEGAN', value: ({ created_at }) => minute(created_at) },
  { head: 'TURNS', value: ({ turns }) => whole(turns), right: true, spare: 1 },
  {
    head: 'QUALITY',
    value: ({ quality_score }) => quality_score.toFixed(1),
    right: true,
    colour: ({ quality_score }) => colourOfScore(quality_score),
  },
  { head: 'COST', value: ({ estimated_cost }) => money(estimated_cost), right: true },
]

function pageText(screen: Screen, { data, pagination }: Static<typeof SessionPage>, heading: string): string {
  const greatest = Math.max(...data.map(({ estimated_cost }) => estimated_cost))
  const sum = (of: (item: SessionListItem) => number) => data.reduce((all, item) => all + of(item), 0)
  return [
    title(screen, heading),
    draw(screen, data, COLUMNS, {
      fraction: ({ estimated_cost }) => (greatest > 0 ? estimated_cost / greatest : 0),
    }),
    [
      `${whole(sum(({ turns }) => turns))} turns and ${money(sum((item) => item.estimated_cost))} on this page`,
      pageLine(pagination, data.length, 'sessions'),
    ].join('\n'),
  ].join('\n\n')
}
