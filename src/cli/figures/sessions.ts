import { type SessionListItem, SessionListQuery, type SessionPage } from '../../features/sessions/model.ts'
import { type Column, colourOfScore } from '../command/table.ts'
import { fractionOf, noSessions, pageText } from './figure-text.ts'
import { counted, minute, money, whole } from './numbers.ts'
import { NONE, rangeText } from './options.ts'
import { figure, type View } from './source.ts'

/** `sessions`: a page of the list, with bars of what each cost. */
export const showSessions = figure<SessionPage>({ path: '/sessions', query: SessionListQuery, text })

function text(page: SessionPage, view: View): string {
  const greatest = Math.max(...page.data.map(({ estimated_cost }) => estimated_cost))
  const sum = (of: (item: SessionListItem) => number) => page.data.reduce((all, item) => all + of(item), 0)
  return pageText(view, page, {
    heading: `Sessions ${rangeText(view.parameters)}; times are UTC`,
    columns: COLUMNS,
    bars: { fraction: ({ estimated_cost }) => fractionOf(estimated_cost, greatest) },
    note: `${counted(
      sum(({ turns }) => turns),
      'turn',
    )} and ${money(sum((item) => item.estimated_cost))} on this page`,
    what: 'sessions',
    none: noSessions(view, 'sessions'),
  })
}

const COLUMNS: readonly Column<SessionListItem>[] = [
  { head: 'SESSION', value: ({ id }) => id, least: 16 },
  { head: 'PROJECT', value: ({ project_name }) => project_name ?? NONE, least: 8 },
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
