import { formatNumber } from '../client/format.ts'
import { Axes, MARGIN } from './axes.tsx'
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
  const draw = (width: number) => {
    const part = (width - MARGIN.left - MARGIN.right) / Math.max(1, data.length)
    const x = (index: number) => MARGIN.left + part * (index + 0.5)
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
        {data.map(({ date, score, sessions }, index) => (
          <circle
            key={date}
            class="point"
            cx={x(index)}
            cy={MARGIN.top + y(score)}
            r={data.length > 120 ? 1.5 : 3}
          >
            <title>{`${date}: ${formatNumber(score)} (${sessions} sessions)`}</title>
          </circle>
        ))}
      </>
    )
  }
  return (
    <Figure
      title={title}
      description={description}
      height={HEIGHT}
      draw={draw}
      table={{
        columns: ['Period', 'Mean', 'Lowest', 'Highest', 'Sessions'],
        rows: data.map(({ date, score, min_score, max_score, sessions }) => [
          date,
          formatNumber(score),
          formatNumber(min_score),
          formatNumber(max_score),
          String(sessions),
        ]),
      }}
    />
  )
}
