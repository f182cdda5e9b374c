import type { ComponentChildren } from 'preact'
import { namesOf } from '../client/format.ts'
import { UNKNOWN } from '../parts/values.tsx'
import { Axes, MARGIN, middleOf } from './axes.tsx'
import { Figure } from './figure.tsx'
import { ticksTo, upwards } from './scale.ts'

// A chart of lines over periods.

type Values = readonly (number | null)[]

interface Line {
  name: string
  /** One a period; null where there is none: the line goes on at the next one. */
  values: Values
  /** A class of the style sheet. */
  kind: 'line' | 'ahead' | 'limit'
}

interface LineChartProps {
  title: string
  description: string
  /** First days of the periods, without gaps: equal times are equally wide. */
  periods: readonly string[]
  lines: readonly Line[]
  /** Values of the same periods: the lower and the upper edge of a band. */
  band?: readonly [low: Line, high: Line]
  /** The values say these too. */
  also?: readonly { name: string; values: readonly string[] }[]
  /** Texts of notes, one a period; empty where there is none. */
  notes?: readonly string[]
  format: (value: number) => string
  formatTick: (value: number) => string
  /** The vertical axis ends here; undefined: above the largest value. */
  max?: number
  height?: number
  /** Stands below the title. */
  children?: ComponentChildren
}

/** Lines over time, with a band. */
export function LineChart(props: LineChartProps) {
  const { title, description, periods, lines, band = [], also = [], notes = [], format, formatTick } = props
  const { height = 240, children } = props
  const names = namesOf(periods)
  const all = [...lines, ...band]
  const ticks = ticksTo(
    props.max ?? Math.max(0, ...all.flatMap(({ values }) => values.map((one) => one ?? 0))),
  )
  const y = upwards(ticks.at(-1) ?? 1, height - MARGIN.top - MARGIN.bottom)
  const draw = (width: number) => {
    const place = (value: number, index: number) =>
      `${middleOf(width, periods.length, index).toFixed(1)},${(MARGIN.top + y(value)).toFixed(1)}`
    const placesOf = (values: Values) =>
      values.flatMap((value, index) => (value === null ? [] : [place(value, index)]))
    const [low, high] = band.map(({ values }) => placesOf(values))
    return (
      <>
        <Axes width={width} height={height} ticks={ticks} y={y} format={formatTick} labels={names} />
        {low !== undefined && high !== undefined && (
          <polygon class="band" points={[...high, ...low.reverse()].join(' ')} />
        )}
        {notes.map((note, index) =>
          note === '' ? null : (
            <circle
              key={index}
              class="noted"
              cx={middleOf(width, periods.length, index)}
              cy={height - MARGIN.bottom}
              r="4"
            />
          ),
        )}
        {lines.map(({ name, kind, values }) => (
          <g key={name}>
            <polyline class={kind} points={placesOf(values).join(' ')} />
            {kind === 'line' &&
              values.map((value, index) =>
                value === null ? null : (
                  <circle
                    key={index}
                    class="point"
                    cx={middleOf(width, periods.length, index)}
                    cy={MARGIN.top + y(value)}
                    r={periods.length > 60 ? 1.5 : 3}
                  />
                ),
              )}
          </g>
        ))}
      </>
    )
  }
  return (
    <Figure
      title={title}
      description={description}
      of="Period"
      height={height}
      draw={draw}
      legend={children}
      marks={(width) =>
        periods.map((period, index) => ({
          x: middleOf(width, periods.length, index),
          y: MARGIN.top + y(lines.map(({ values }) => values[index]).find((value) => value != null) ?? 0),
          title: names[index] ?? period,
          lines: [
            ...all.map(({ name, values }) => {
              const value = values[index] ?? null
              return [name, value === null ? UNKNOWN : format(value), value === null] as const
            }),
            ...also.map(({ name, values }) => [name, values[index] ?? UNKNOWN] as const),
            ...(notes.some((note) => note !== '')
              ? [['Note', notes[index] ?? '', !notes[index]] as const]
              : []),
          ],
        }))
      }
    />
  )
}
