import type { Static } from '@sinclair/typebox'
import { type QualityOverview, QualityQuery } from '../../quality/model.ts'
import type { Context } from '../command/context.ts'
import { printText, visible } from '../command/output.ts'
import { colourOfScore, draw, screenOf } from '../command/table.ts'
import { counted } from './numbers.ts'
import { parametersOf, rangeText, withRange } from './options.ts'
import { type SourceOptions, withSource } from './source.ts'
import { noSessions, title } from './text.ts'

/** `quality`: the mean score of each day. */
export async function showQuality(
  context: Context,
  options: SourceOptions & Record<string, unknown>,
): Promise<void> {
  const parameters = withRange(parametersOf(QualityQuery, options))
  await withSource(context, options, async (source) => {
    const body = await source.get('/quality', parameters)
    if (context.json) return await printText(visible(body))
    const { average_score, total_sessions, trend, scores_by_date }: Static<typeof QualityOverview> =
      JSON.parse(body)
    if (total_sessions === 0) return await printText(noSessions(source, 'quality', parameters))
    const screen = screenOf(context.env)
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
    await printText(`${title(screen, heading)}\n\n${table}`)
  })
}

const TRENDS: Readonly<Record<Static<typeof QualityOverview>['trend'], string>> = {
  up: 'rising',
  down: 'falling',
  stable: 'stable',
}
