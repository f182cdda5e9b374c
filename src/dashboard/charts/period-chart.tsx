import { Axes, MARGIN } from './axes.tsx'
import { Figure } from './figure.tsx'
import { Legend } from './legend.tsx'
import { ticksTo, upwards } from './scale.ts'

export interface Series {
  name: string
  /** One a period. */
  values: readonly number[]
}

interface PeriodChartProps {
  title: string
  description: string
  /** First days of the periods. */
  periods: readonly string[]
  /** Stacked in this order, the first at the bottom. */
  series: readonly Series[]
  format: (value: number) => string
  /** Of the vertical axis; as `format` unless given. */
  formatTick?: (value: number) => string
  /** A dashed line at this height. */
  limit?: { name: string; value: number }
}

const HEIGHT = 240
const MAX_BAR = 40

/** Stacked bars, one for each period. */
export function PeriodChart({
  title,
  description,
  periods,
  series,
  format,
  formatTick = format,
  limit,
}: PeriodChartProps) {
  const sums = periods.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))
  const ticks = ticksTo(Math.max(0, ...sums, limit?.value ?? 0))
  const max = ticks.at(-1) ?? 1
  const inner = HEIGHT - MARGIN.top - MARGIN.bottom
  const y = upwards(max, inner)
  const isStacked = series.length > 1
  const draw = (width: number) => {
    const part = (width - MARGIN.left - MARGIN.right) / Math.max(1, periods.length)
    const bar = Math.max(1, Math.min(MAX_BAR, part * 0.8))
    return (
      <>
        <Axes width={width} height={HEIGHT} ticks={ticks} y={y} format={formatTick} labels={periods} />
        {periods.map((period, index) => {
          let below = 0
          return (
            <g
              key={period}
              transform={`translate(${MARGIN.left + part * (index + 0.5) - bar / 2} ${MARGIN.top})`}
            >
              {series.map(({ name, values }, nth) => {
                const value = values[index] ?? 0
                const top = y(below + value)
                const height = y(below) - top
                below += value
                return height <= 0 ? null : (
                  <rect key={nth} class={`series${nth}`} y={top} width={bar} height={height}>
                    <title>{`${period}${isStacked ? ` · ${name}` : ''}: ${format(value)}`}</title>
                  </rect>
                )
              })}
            </g>
          )
        })}
        {limit !== undefined && (
          <line
            class="limit"
            x1={MARGIN.left}
            x2={width - MARGIN.right}
            y1={MARGIN.top + y(limit.value)}
            y2={MARGIN.top + y(limit.value)}
          >
            <title>{`${limit.name}: ${format(limit.value)}`}</title>
          </line>
        )}
      </>
    )
  }
  const rows = periods.map((period, index) => [
    period,
    ...series.map(({ values }) => format(values[index] ?? 0)),
    ...(isStacked ? [format(sums[index] ?? 0)] : []),
  ])
  return (
    <Figure
      title={title}
      description={description}
      height={HEIGHT}
      draw={draw}
      table={{
        columns: ['Period', ...series.map(({ name }) => name), ...(isStacked ? ['Total'] : [])],
        rows,
      }}
      legend={isStacked ? <Legend names={series.map(({ name }) => name)} /> : undefined}
    />
  )
}
