import { labelled, ticksTo } from './ticks.ts'

/** Room around the drawing, in pixels, for the axes that charts share. */
export const MARGIN = { top: 10, right: 8, bottom: 22, left: 56 }

/** The vertical scale of a drawing, from 0 to at least `max`: its ticks, and the pixels from the top of each value. */
export function scaleTo(max: number, height: number) {
  const ticks = ticksTo(max)
  const [highest = 1] = ticks.slice(-1)
  const inner = height - MARGIN.top - MARGIN.bottom
  return { ticks, y: (value: number) => MARGIN.top + inner - (value / highest) * inner }
}

interface ScaleProps {
  /** Pixels from the left. */
  right: number
  ticks: readonly number[]
  y: (value: number) => number
  format: (value: number) => string
}

/** Lines across a chart, with the values of its vertical axis. */
export const Scale = ({ right, ticks, y, format }: ScaleProps) =>
  ticks.map((tick) => (
    <g key={tick} transform={`translate(0 ${y(tick)})`}>
      <line x1={MARGIN.left} x2={right} />
      <text x={MARGIN.left - 6} dy="0.32em" text-anchor="end">
        {format(tick)}
      </text>
    </g>
  ))

interface AxesProps extends Omit<ScaleProps, 'right'> {
  width: number
  height: number
  /** Along the horizontal axis, each in an equal part of it. */
  labels: readonly string[]
}

const LABEL_WIDTH = 76
/** The first one may be moved by this to the right. */
const MOVED = 30

/** The width of each of `count` periods. */
export const widthOfPart = (width: number, count: number): number =>
  (width - MARGIN.left - MARGIN.right) / Math.max(1, count)
export const middleOf = (width: number, count: number, index: number): number =>
  MARGIN.left + widthOfPart(width, count) * (index + 0.5)

/** Lines and labels of a chart whose horizontal axis is a row of periods. */
export function Axes({ width, height, labels, ...scale }: AxesProps) {
  const shown = labelled(labels.length, Math.floor(widthOfPart(width, 1) / (LABEL_WIDTH + MOVED)))
  return (
    <g class="axes">
      <Scale right={width - MARGIN.right} {...scale} />
      {labels.map((label, index) =>
        shown.has(index) ? (
          <text
            key={index}
            // the first one must not lie on the lowest value
            x={Math.max(
              MARGIN.left + LABEL_WIDTH / 2 - 4,
              Math.min(middleOf(width, labels.length, index), width - LABEL_WIDTH / 2),
            )}
            y={height - 6}
            text-anchor="middle"
          >
            {label}
          </text>
        ) : null,
      )}
    </g>
  )
}
