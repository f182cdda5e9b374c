import { labelled } from './scale.ts'

/** Room around the drawing, in pixels. */
export const MARGIN = { top: 10, right: 8, bottom: 22, left: 56 }

interface AxesProps {
  width: number
  height: number
  /** Values of the vertical axis. */
  ticks: readonly number[]
  y: (value: number) => number
  format: (value: number) => string
  /** Along the horizontal axis, each in an equal part of it. */
  labels: readonly string[]
}

const LABEL_WIDTH = 76

/** Lines and labels of a chart whose horizontal axis is a row of periods. */
export function Axes({ width, height, ticks, y, format, labels }: AxesProps) {
  const inner = width - MARGIN.left - MARGIN.right
  const part = inner / Math.max(1, labels.length)
  const shown = labelled(labels.length, Math.floor(inner / LABEL_WIDTH))
  return (
    <g class="axes">
      {ticks.map((tick) => (
        <g key={tick} transform={`translate(0 ${MARGIN.top + y(tick)})`}>
          <line x1={MARGIN.left} x2={width - MARGIN.right} />
          <text x={MARGIN.left - 6} dy="0.32em" text-anchor="end">
            {format(tick)}
          </text>
        </g>
      ))}
      {labels.map((label, index) =>
        shown.has(index) ? (
          <text
            key={label}
            x={Math.min(MARGIN.left + part * (index + 0.5), width - LABEL_WIDTH / 2)}
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
