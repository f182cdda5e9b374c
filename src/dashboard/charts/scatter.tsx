import { MARGIN, Scale } from './axes.tsx'
import { Figure } from './figure.tsx'
import { ticksTo, upwards } from './scale.ts'
import { Marks, Shape } from './shapes.tsx'

// A chart of points.

interface Point {
  key: string
  /** Names the point in its tooltip and in the table. */
  name: string
  x: number
  y: number
  href: string
  kind: string
}

interface ScatterProps {
  title: string
  description: string
  points: readonly Point[]
  /** Classes of the style sheet with their own shapes, which the legend names. */
  kinds: readonly string[]
  xName: string
  yName: string
  formatX: (value: number) => string
  /** The vertical axis ends here. */
  maxY: number
}

const HEIGHT = 300

/** Points that link to what they stand for. */
export function Scatter({ title, description, points, kinds, xName, yName, formatX, maxY }: ScatterProps) {
  const xTicks = ticksTo(Math.max(0, ...points.map(({ x }) => x)), 5)
  const maxX = xTicks.at(-1) ?? 1
  const bottom = MARGIN.bottom + 14
  const inner = HEIGHT - MARGIN.top - bottom
  const y = upwards(maxY, inner)
  const rightOf = (width: number) => width - MARGIN.right - 12
  const across = (width: number) => (value: number) =>
    MARGIN.left + (value / maxX) * (rightOf(width) - MARGIN.left)
  const draw = (width: number) => {
    const right = rightOf(width)
    const x = across(width)
    return (
      <>
        <g class="axes">
          <Scale right={right} ticks={ticksTo(maxY)} y={y} format={String} />
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
        {points.map(({ key, kind, x: value, y: height }) => (
          <Shape
            key={key}
            kind={`dot ${kind}`}
            of={kinds.indexOf(kind)}
            x={x(value)}
            y={MARGIN.top + y(height)}
            size={12}
          />
        ))}
      </>
    )
  }
  return (
    <Figure
      title={title}
      description={description}
      of="Item"
      height={HEIGHT}
      draw={draw}
      isPlane
      legend={
        <ul class="legend">
          <Marks of={kinds.map((kind, of) => ({ name: kind, kind, of }))} />
        </ul>
      }
      marks={(width) =>
        points.map((point) => ({
          x: across(width)(point.x),
          y: MARGIN.top + y(point.y),
          title: point.name,
          lines: [
            [yName, String(point.y)],
            [xName, formatX(point.x)],
          ],
          href: point.href,
        }))
      }
    />
  )
}
