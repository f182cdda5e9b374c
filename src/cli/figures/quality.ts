import type { QualityOverview } from '../../features/quality/model.ts'
import { RangeFilters } from '../../features/usage/model.ts'
import { colourOfScore, draw } from '../command/table.ts'
import { counted } from './numbers.ts'
import { ofProject, rangeText } from './options.ts'
import { figure, type View } from './source.ts'
import { noSessions, title } from './text.ts'

/** `quality`: the mean score of each day. */
export const showQuality = figure<QualityOverview>({ path: '/quality', query: RangeFilters, text })

function text({ average_score, total_sessions, trend, scores_by_date }: QualityOverview, view: View): string {
  const { screen, parameters } = view
  if (total_sessions === 0) return noSessions(view, 'quality')
  const heading = `Quality${ofProject(parameters)} ${rangeText(parameters)}: ${average_score} of 100 in ${counted(total_sessions, 'session')}, ${TRENDS[trend]}`
  const columns = [
    { head: 'DAY', value: ({ date }: Day) => date },
    { head: 'SCORE', value: ({ score }: Day) => score.toFixed(2), right: true },
  ]
  const bars = { fraction: ({ score }: Day) => score / 100, colour: ({ score }: Day) => colourOfScore(score) }
  return `${title(screen, heading)}\n\n${draw(screen, scores_by_date, columns, bars)}`
}

type Day = QualityOverview['scores_by_date'][number]

const TRENDS: Readonly<Record<QualityOverview['trend'], string>> = {
  up: 'rising',
  down: 'falling',
  stable: 'stable',
}
