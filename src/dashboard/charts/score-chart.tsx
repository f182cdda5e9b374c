import { formatScore, formatWhole } from '../client/format.ts'
import { Axes, MARGIN, middleOf } from './axes.tsx'
import { Figure } from './figure.tsx'
import { upwards } from './scale.ts'

interface ScoreChartProps {
  title: string
  description: string
  /** Ascending; periods without sessions are left out. */
  data: readonly { date: string; score: number; sessions: number; min_score: number; max_score: number }[]
}

const HEIGHT = 240
const TICKS = [0, 25, 50, 75, 100]

/** Mean scores, 0 to 100, as a line, with the lowest and highest of each period as a band. */
export function ScoreChart({ title, description, data }: ScoreChartProps) {
  const inner = HEIGHT - MARGIN.top - MARGIN.bottom
  const y = upwards(100, inner)
  const across = (width: number) => (index: number) => middleOf(width, data.length, index)
  const draw = (width: number) => {
    const x = across(width)
    const line = (pick: (point: ScoreChartProps['data'][number]) => number) =>
      data.map((point, index) => `${x(index).toFixed(1)},${(MARGIN.top + y(pick(point))).toFixed(1)}`)
    const band = [...line(({ max_score }) => max_score), ...line(({ min_score }) => min_score).reverse()]
    return (
      <>
        <Axes
          width={width}
          height={HEIGHT}
          ticks={TICKS}
          y={y}
          format={String}
          labels={data.map(({ date }) => date)}
        />
        <polygon class="band" points={band.join(' ')} />
        <polyline class="line" points={line(({ score }) => score).join(' ')} />
        {data.map(({ date, score }, index) => (
          <circle
            key={date}
            class="point"
            cx={x(index)}
            cy={MARGIN.top + y(score)}
            r={data.length > 120 ? 1.5 : 3}
          />
        ))}
      </>
    )
  }
  return (
    <Figure
      title={title}
      description={description}
      of="Period"
      height={HEIGHT}
      draw={draw}
      marks={(width) =>
        data.map(({ date, score, min_score, max_score, sessions }, index) => ({
          x: across(width)(index),
          y: MARGIN.top + y(score),
          title: date,
          lines: [
            ['Mean', formatScore(score)],
            ['Lowest', formatScore(min_score)],
            ['Highest', formatScore(max_score)],
            ['Sessions', formatWhole(sessions)],
          ],
        }))
      }
    />
  )
}
