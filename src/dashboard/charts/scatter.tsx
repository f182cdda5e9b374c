import { MARGIN } from './axes.tsx'
import { Figure } from './figure.tsx'
import { ticksTo, upwards } from './scale.ts'

export interface Point {
  key: string
  /** Names the point in its tooltip and in the table. */
  name: string
  x: number
  y: number
  href: string
  /** Of the style sheet. */
  kind: string
}

interface ScatterProps {
  title: string
  description: string
  points: readonly Point[]
  xName: string
  yName: string
  formatX: (value: number) => string
  /** The vertical axis ends here. */
  maxY: number
}

const HEIGHT = 300

/** Points that link to what they stand for. */
export function Scatter({ title, description, points, xName, yName, formatX, maxY }: ScatterProps) {
  const xTicks = ticksTo(Math.max(0, ...points.map(({ x }) => x)), 5)
  const maxX = xTicks.at(-1) ?? 1
  const bottom = MARGIN.bottom + 14
  const inner = HEIGHT - MARGIN.top - bottom
  const y = upwards(maxY, inner)
  const yTicks = ticksTo(maxY)
  const draw = (width: number) => {
    const right = width - MARGIN.right - 12
    const x = (value: number) => MARGIN.left + (value / maxX) * (right - MARGIN.left)
    return (
      <>
        <g class="axes">
          {yTicks.map((tick) => (
            <g key={tick} transform={`translate(0 ${MARGIN.top + y(tick)})`}>
              <line x1={MARGIN.left} x2={right} />
              <text x={MARGIN.left - 6} dy="0.32em" text-anchor="end">
                {tick}
              </text>
            </g>
          ))}
          {xTicks.map((tick) => (
            <text key={tick} x={x(tick)} y={HEIGHT - bottom + 16} text-anchor="middle">
              {formatX(tick)}
            </text>
          ))}
          <text x={right} y={HEIGHT - 4} text-anchor="end">
            {xName} →
          </text>
          <text x={MARGIN.left + 4} y={MARGIN.top + 12}>
            ↑ {yName}
          </text>
        </g>
        {points.map((point) => (
          <a key={point.key} href={point.href} aria-label={point.name}>
            <circle class={`dot ${point.kind}`} cx={x(point.x)} cy={MARGIN.top + y(point.y)} r="6">
              <title>{`${point.name}: ${yName} ${point.y}, ${formatX(point.x)}`}</title>
            </circle>
          </a>
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
      hasLinks
      table={{
        columns: ['Item', yName, xName],
        rows: points.map(({ name, x, y: value }) => [name, String(value), formatX(x)]),
      }}
    />
  )
}
