import { formatDollars, formatDollarTick } from '../client/format.ts'
import { Axes, MARGIN, middleOf, partOf } from './axes.tsx'
import { Figure } from './figure.tsx'
import { Legend, type Named, seriesClass } from './legend.tsx'
import { ticksTo, upwards } from './scale.ts'

export interface Series extends Named {
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
  /** A dashed line at this height. */
  limit?: { name: string; value: number } | undefined
  /** A click on a period's bar goes there. */
  linkOf?: (period: string) => string
}

const HEIGHT = 240
const MAX_BAR = 40

/** Stacked bars of US dollars, one for each period. */
export function PeriodChart({ title, description, periods, series, limit, linkOf }: PeriodChartProps) {
  const sums = periods.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))
  const ticks = ticksTo(Math.max(0, ...sums, limit?.value ?? 0))
  const max = ticks.at(-1) ?? 1
  const inner = HEIGHT - MARGIN.top - MARGIN.bottom
  const y = upwards(max, inner)
  const isStacked = series.length > 1
  const marks = (width: number) =>
    periods.map((period, index) => ({
      x: middleOf(width, periods.length, index),
      y: MARGIN.top + y(sums[index] ?? 0),
      title: period,
      lines: [
        ...series.map(
          ({ name, values }) =>
            [name, formatDollars(values[index] ?? 0), isStacked && values[index] === 0] as const,
        ),
        ...(isStacked ? [['Total', formatDollars(sums[index] ?? 0)] as const] : []),
      ],
      href: linkOf?.(period),
    }))
  const draw = (width: number) => {
    const bar = Math.max(1, Math.min(MAX_BAR, partOf(width, periods.length) * 0.8))
    return (
      <>
        <Axes width={width} height={HEIGHT} ticks={ticks} y={y} format={formatDollarTick} labels={periods} />
        {periods.map((period, index) => {
          let below = 0
          return (
            <g
              key={period}
              transform={`translate(${middleOf(width, periods.length, index) - bar / 2} ${MARGIN.top})`}
            >
              {series.map((one, nth) => {
                const value = one.values[index] ?? 0
                const top = y(below + value)
                const height = y(below) - top
                below += value
                return height <= 0 ? null : (
                  <rect key={nth} class={seriesClass(one, nth)} y={top} width={bar} height={height} />
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
          />
        )}
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
      marks={marks}
      legend={
        (isStacked || limit !== undefined) && (
          <Legend
            names={isStacked ? series : []}
            limit={limit === undefined ? undefined : `${limit.name} ${formatDollars(limit.value)}`}
          />
        )
      }
    />
  )
}
