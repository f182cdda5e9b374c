import type { Static } from '@sinclair/typebox'
import { type QualityOverview, QualityQuery } from '../../quality/model.ts'
import type { Context } from '../command/context.ts'
import { colourOfScore, draw, type Screen } from '../command/table.ts'
import { counted } from './numbers.ts'
import { parametersOf, rangeText, withRange } from './options.ts'
import { type FigureOptions, type Source, showRoute } from './source.ts'
import { noSessions, title } from './text.ts'

/** `quality`: the mean score of each day. */
export async function showQuality(context: Context, options: FigureOptions): Promise<void> {
  const parameters = withRange(parametersOf(QualityQuery, options))
  const text = (overview: Static<typeof QualityOverview>, source: Source, screen: Screen) => {
    const { average_score, total_sessions, trend, scores_by_date } = overview
    if (total_sessions === 0) return noSessions(source, 'quality', parameters)
    const ofProject = parameters.project === undefined ? '' : ` of ${parameters.project}`
    const heading = `Quality${ofProject} ${rangeText(parameters)}: ${average_score} of 100 in ${counted(total_sessions, 'session')}, ${TRENDS[trend]}`
    const table = draw(
      screen,
      scores_by_date,
      [
        { head: 'DAY', value: ({ date }) => date },
        { head: 'SCORE', value: ({ score }) => score.toFixed(2), right: true },
      ],
      { fraction: ({ score }) => score / 100, colour: ({ score }) => colourOfScore(score) },
    )
    return `${title(screen, heading)}\n\n${table}`
  }
  await showRoute(context, options, '/quality', parameters, text)
}

const TRENDS: Readonly<Record<Static<typeof QualityOverview>['trend'], string>> = {
  up: 'rising',
  down: 'falling',
  stable: 'stable',
}
