// A chart of stacked bars over periods.

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { formatDay, formatDollars, formatDollarTick, formatWeekday, periodNames } from '../client/format.ts'
import { NamedLink, UNKNOWN } from '../parts/values.tsx'
import { Axes, MARGIN, middleOf, scaleTo, widthOfPart } from './axes.tsx'
import { Figure } from './figure.tsx'
import { Marks, Shape, Swatch } from './shapes.tsx'

export interface Series extends Label {
  values: readonly number[]
}

interface PeriodChartProps {
  title: string
  description: string
  periods: readonly string[]
  /** Stacked in this order, the first at the bottom. */
  series: readonly Series[]
  /** A dashed line at these heights, one a period; null where there is none. */
  limit?: { name: string; values: readonly (number | null)[] } | undefined
  /** The period that goes on: its bar is hatched. */
  unfinished?: string
  /** A click on a period's bar goes there. */
  linkOf?: (period: string) => string
  of?: string
  /** The values say these of each period too. */
  also?: readonly { name: string; values: readonly string[] }[]
  /** A row of marks below the bars for each, where its value is not 0 or its text not empty. `kind`: a class of the style sheet. */
  flags?: readonly { name: string; kind: string; values: readonly (number | string)[] }[]
  /** Whether a period stands out. */
  isHigh?: (period: string) => boolean
  format?: (value: number) => string
  formatTick?: (value: number) => string
  /** Stands below the title. */
  children?: ComponentChildren
}

const HEIGHT = 240
const MAX_BAR = 40
/** The height of a row of marks. */
const FLAG = 12
/** A part of a bar has its shape from this height and width on. */
const SHAPE = 12
/** A limit of more than this many times the highest bar is not drawn. */
const FAR = 5
/** A triangle stands on a bar that stands out. */
const HIGH_SHAPE = 2

/** Stacked bars, one for each period: US dollars unless `format` says otherwise. */
export function PeriodChart(props: PeriodChartProps) {
  const { title, description, periods, series, limit, unfinished, linkOf } = props
  const { of = 'Period', also = [], flags = [], isHigh, children } = props
  const hatching = useId()
  const { format = formatDollars, formatTick = formatDollarTick } = props
  const height = HEIGHT + FLAG * flags.length
  const sums = periods.map((_, index) => series.reduce((sum, { values }) => sum + (values[index] ?? 0), 0))
  const highest = Math.max(0, ...sums)
  const limited = Math.max(0, ...(limit?.values ?? []).map((value) => value ?? 0))
  // far above the bars its line would leave them no height
  const line = limited > FAR * highest ? undefined : limit
  const { ticks, y } = scaleTo(line === undefined ? highest : Math.max(highest, limited), HEIGHT)
  const isStacked = series.length > 1
  const names = periodNames(periods)
  const marks = (width: number) =>
    periods.map((period, index) => ({
      x: middleOf(width, periods.length, index),
      y: y(sums[index] ?? 0),
      title: `${titleOf(period, names[index])}${period === unfinished ? ', unfinished' : ''}`,
      lines: [
        ...(limit === undefined
          ? []
          : [[limit.name, limit.values[index] == null ? UNKNOWN : format(limit.values[index])] as const]),
        ...series.map(
          (one, nth) =>
            [
              one.name,
              format(one.values[index] ?? 0),
              isStacked && one.values[index] === 0,
              isStacked ? shapeOf(one, nth) : undefined,
            ] as const,
        ),
        ...(isStacked ? [['Total', format(sums[index] ?? 0)] as const] : []),
        ...also.map(({ name, values }) => [name, values[index] ?? ''] as const),
        ...flags.map(({ name, values }) => [name, String(values[index] ?? 0), !values[index]] as const),
      ],
      href: linkOf?.(period),
    }))
  const draw = (width: number) => {
    const bar = Math.max(1, Math.min(MAX_BAR, widthOfPart(width, periods.length) * 0.8))
    return (
      <>
        <Axes width={width} height={height} ticks={ticks} y={y} format={formatTick} labels={names} />
        {flags.map(({ name, kind, values }, row) => (
          <g key={name}>
            {values.map((value, index) =>
              !value ? null : (
                <Shape
                  key={index}
                  {...{ kind, of: row, size: 8 }}
                  x={middleOf(width, periods.length, index)}
                  y={HEIGHT - MARGIN.bottom + FLAG * (row + 0.5)}
                />
              ),
            )}
          </g>
        ))}
        <pattern id={hatching} class="hatching" width="6" height="6" patternUnits="userSpaceOnUse">
          <path d="M-1,1 l2,-2 M0,6 l6,-6 M5,7 l2,-2" />
        </pattern>
        {sums.map((sum, index) => {
          let below = 0
          const isHighest = isHigh?.(periods[index] ?? '') === true
          return (
            <g key={index} transform={`translate(${middleOf(width, periods.length, index) - bar / 2})`}>
              {series.map((one, nth) => {
                const value = one.values[index] ?? 0
                const top = y(below + value)
                const height = y(below) - top
                below += value
                const shape = shapeOf(one, nth)
                return height <= 0 ? null : (
                  <g key={nth}>
                    <rect
                      fill={isHighest ? 'var(--more)' : `var(--s${shape})`}
                      y={top}
                      width={bar}
                      height={height}
                    />
                    {isStacked && bar > SHAPE && height > SHAPE && (
                      <Shape
                        of={shape}
                        x={bar / 2}
                        y={top + height / 2}
                        size={SHAPE / 2}
                        fill="var(--card)"
                      />
                    )}
                  </g>
                )
              })}
              {isHighest && <Shape of={HIGH_SHAPE} x={bar / 2} y={y(sum) - 7} size={8} fill="var(--more)" />}
              {periods[index] === unfinished && (
                <rect fill={`url(#${hatching})`} y={y(sum)} width={bar} height={y(0) - y(sum)} />
              )}
            </g>
          )
        })}
        {line !== undefined && <path class="limit" d={stepsOf(line.values, width, y)} />}
      </>
    )
  }
  return (
    <Figure
      title={title}
      description={description}
      of={of}
      height={height}
      draw={draw}
      marks={marks}
      legend={
        <>
          {children}
          {(isStacked || line !== undefined || flags.length > 0) && (
            <Legend
              names={isStacked ? series : []}
              flags={flags.map((flag, of) => ({ ...flag, of })).filter(({ values }) => values.some(Boolean))}
              limit={line && limitText(line, format)}
            />
          )}
        </>
      }
    />
  )
}

/** The name of the limit, with its value where all periods have the same. */
function limitText(
  { name, values }: NonNullable<PeriodChartProps['limit']>,
  format: (value: number) => string,
) {
  const texts = new Set(values.flatMap((value) => (value === null ? [] : format(value))))
  return texts.size === 1 ? `${name} ${[...texts][0]}` : name
}

/** `Thu 26 Nov` for a day; other periods have their names. */
const titleOf = (period: string, name = period): string =>
  /^\d{4}-\d\d-\d\d$/.test(period) && name === formatDay(period) ? formatWeekday(period) : name

/** A path with a step where the value changes; none where there is no value. */
const stepsOf = (values: readonly (number | null)[], width: number, y: (value: number) => number): string =>
  values
    .map((value, index) => {
      if (value === null) return ''
      const part = widthOfPart(width, values.length)
      const from = MARGIN.left + part * index
      const top = y(value)
      return `${values[index - 1] == null ? `M${from},${top}` : `V${top}`}H${from + part}`
    })
    .join('')

interface Label {
  name: string
  /** A click on the name goes there. */
  href?: string | undefined
  /** Whether it stands for all that have no name here. */
  isRest?: boolean
  /** The number of its colour. */
  color?: number | undefined
}

/** The number of a series' colour and shape: its own, else by its place, the rest is grey. */
const shapeOf = ({ isRest, color }: Label, index: number): number => (isRest === true ? 6 : (color ?? index))

interface LegendProps {
  names: readonly Label[]
  limit?: string | undefined
  flags?: readonly { name: string; kind: string; of: number }[]
}

/** The names of a chart's series with their colours, of its marks, and of the line across it. */
function Legend({ names, limit, flags = [] }: LegendProps) {
  return (
    <ul class="legend">
      {names.map(({ name, href, isRest = false, color }, index) => (
        <li key={index}>
          <Swatch of={shapeOf({ name, isRest, color }, index)} />
          {href === undefined ? <bdi>{name}</bdi> : <NamedLink to={href}>{name}</NamedLink>}
        </li>
      ))}
      <Marks of={flags} />
      {limit !== undefined && (
        <li>
          <svg class="limit" width="16" height="10" aria-hidden="true">
            <line x2="16" y1="5" y2="5" />
          </svg>
          {limit}
        </li>
      )}
    </ul>
  )
}
