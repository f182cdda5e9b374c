// A chart of the mean score over periods.

import type { QualityTrend } from '../../features/quality/model.ts'
import { formatScore, formatWhole, periodNames } from '../client/format.ts'
import { UNKNOWN } from '../parts/values.tsx'
import { Axes, MARGIN, middleOf, scaleTo } from './axes.tsx'
import { Figure } from './figure.tsx'

type Point = QualityTrend['data'][number]

interface ScoreChartProps {
  title: string
  /** First days of the periods, without gaps: equal times are equally wide. */
  periods: readonly string[]
  data: readonly Point[]
  /** Texts of notes, one a period; empty where there is none. */
  notes: readonly string[]
}

const HEIGHT = 240
const MAX = 100

/** The mean score as a line, with a band of the middle half; where a period has none, the line goes on at the next one. */
export function ScoreChart({ title, periods, data, notes }: ScoreChartProps) {
  const byPeriod = new Map(data.map((point) => [point.date, point]))
  const points = periods.map((period) => byPeriod.get(period))
  const names = periodNames(periods)
  const { ticks, y } = scaleTo(MAX, HEIGHT)
  const draw = (width: number) => {
    const xOf = (index: number) => middleOf(width, periods.length, index)
    const placesOf = (scoreOf: (point: Point) => number | undefined) =>
      points.flatMap((point, index) => {
        const score = point && scoreOf(point)
        return score === undefined ? [] : `${xOf(index).toFixed(1)},${y(score).toFixed(1)}`
      })
    const low = placesOf(({ lower_quartile }) => lower_quartile)
    const high = placesOf(({ upper_quartile }) => upper_quartile)
    return (
      <>
        <Axes width={width} height={HEIGHT} ticks={ticks} y={y} format={String} labels={names} />
        <polygon class="band" points={[...high, ...low.reverse()].join(' ')} />
        {notes.map(
          (note, index) =>
            note !== '' && (
              <circle key={index} class="noted" cx={xOf(index)} cy={HEIGHT - MARGIN.bottom} r="4" />
            ),
        )}
        <polyline class="line" points={placesOf(({ score }) => score).join(' ')} />
        {points.map(
          (point, index) =>
            point !== undefined && (
              <circle
                key={index}
                class="point"
                cx={xOf(index)}
                cy={y(point.score)}
                r={periods.length > 60 ? 1.5 : 3}
              />
            ),
        )}
      </>
    )
  }
  return (
    <Figure
      title={title}
      description="The mean score of the sessions that began in each period, 0 to 100, with the middle half of them as a band. High is good."
      of="Period"
      height={HEIGHT}
      draw={draw}
      marks={(width) =>
        points.map((point, index) => {
          const line = (name: string, value: number | undefined) =>
            [name, value === undefined ? UNKNOWN : formatScore(value), value === undefined] as const
          return {
            x: middleOf(width, periods.length, index),
            y: y(point?.score ?? 0),
            title: names[index] ?? '',
            lines: [
              line('Mean', point?.score),
              line('A quarter at most', point?.lower_quartile),
              line('A quarter at least', point?.upper_quartile),
              [
                'Lowest to highest',
                point ? `${formatScore(point.min_score)}–${formatScore(point.max_score)}` : UNKNOWN,
              ],
              ['Sessions', point ? formatWhole(point.sessions) : UNKNOWN],
              ...(notes.some((note) => note !== '')
                ? [['Note', notes[index] ?? '', !notes[index]] as const]
                : []),
            ],
          }
        })
      }
    />
  )
}
