import { daysBetween } from '../../base/dates.ts'
import type { QualityOverview } from '../../features/quality/model.ts'
import { RangeFilters } from '../../features/usage/model.ts'
import { colourOfScore, draw } from '../command/table.ts'
import { noSessions, title } from './figure-text.ts'
import { counted } from './numbers.ts'
import { ofProject, rangeText, shownRange } from './options.ts'
import { figure, findBody, type View } from './source.ts'

/** `quality`: the mean score of each day. */
export const showQuality = figure<QualityOverview>({ path: '/quality', query: RangeFilters, text })

async function text(quality: QualityOverview, view: View): Promise<string> {
  const { average_score, total_sessions, scores_by_date } = quality
  const { screen, parameters } = view
  if (total_sessions === 0) return noSessions(view, 'quality')
  const heading = `Quality${ofProject(parameters)} ${rangeText(parameters)}: ${average_score} of 100 in ${counted(total_sessions, 'session')}${await changeText(average_score, view)}`
  const columns = [
    { head: 'DAY', value: ({ date }: Day) => date },
    { head: 'SCORE', value: ({ score }: Day) => score.toFixed(2), right: true },
  ]
  const bars = { fraction: ({ score }: Day) => score / 100, colour: ({ score }: Day) => colourOfScore(score) }
  return `${title(screen, heading)}\n\n${draw(screen, scores_by_date, columns, bars)}`
}

type Day = QualityOverview['scores_by_date'][number]

/** The change of the mean against the equally long range before; empty where there is none, or an older server does not say it. */
async function changeText(score: number, { source, parameters }: View): Promise<string> {
  const { from, to } = shownRange(parameters)
  if (from === null) return ''
  const query = { ...parameters, date_from: from, date_to: to, compare: 'previous' }
  const overview = await findBody<QualityOverview>(source, '/quality', query, ['compare'])
  if (!overview?.previous?.total_sessions) return ''
  const points = (score - overview.previous.average_score).toFixed(2)
  return `, ${points.startsWith('-') ? '' : '+'}${points} points against the ${counted(daysBetween(from, to) + 1, 'day')} before`
}
