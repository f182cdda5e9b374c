// A chart of seats: a bar for each, with a line at what it costs.

import type { Seat } from '../../features/seats/model.ts'
import { Axes, MARGIN, middleOf, scaleTo, widthOfPart } from '../charts/axes.tsx'
import { Figure } from '../charts/figure.tsx'
import { Marks } from '../charts/shapes.tsx'
import { formatDollars, formatDollarTick } from '../client/format.ts'

const HEIGHT = 220
const GAP = 0.2

export const hitsOf = ({ limits }: Pick<Seat, 'limits'>): number =>
  limits.reduce((sum, { hits }) => sum + hits, 0)

const kindOf = ({ cost, paid, active_days }: Seat): string =>
  active_days === 0 ? 'none' : cost >= paid ? 'series0' : 'below'

/** Numbers of shapes. */
const [SQUARE, LINE] = [1, 6]
const LEGEND: readonly (readonly [kind: string, name: string, of?: number])[] = [
  ['series0', 'above the price'],
  ['below', 'below'],
  ['none', 'idle'],
  ['bad', 'hit a limit', LINE],
]

export function SeatChart({ seats, seatName }: { seats: readonly Seat[]; seatName: (seat: Seat) => string }) {
  const { ticks, y } = scaleTo(Math.max(0, ...seats.flatMap(({ cost, paid }) => [cost, paid])), HEIGHT)
  const draw = (width: number) => {
    const part = widthOfPart(width, seats.length)
    const size = Math.min(48, part * (1 - GAP))
    return (
      <>
        <Axes width={width} height={HEIGHT} labels={[]} ticks={ticks} y={y} format={formatDollarTick} />
        {seats.map((seat, index) => {
          const left = middleOf(width, seats.length, index) - size / 2
          const top = y(Math.max(seat.cost, seat.active_days === 0 ? seat.paid : 0))
          return (
            <g key={index}>
              <rect
                class={kindOf(seat)}
                x={left}
                y={top}
                width={size}
                height={HEIGHT - MARGIN.bottom - top}
              />
              {hitsOf(seat) > 0 && (
                <rect class="bad" x={left} y={Math.max(0, top - 7)} width={size} height="4" />
              )}
              <line
                class="price"
                x1={left - (part - size) / 2}
                x2={left + size + (part - size) / 2}
                y1={y(seat.paid)}
                y2={y(seat.paid)}
              />
            </g>
          )
        })}
      </>
    )
  }
  return (
    <Figure
      title="API-equivalent of each seat, with a line at what it costs"
      description="Those that were used most come first."
      of="Seat"
      height={HEIGHT}
      draw={draw}
      legend={
        <ul class="legend">
          <Marks of={LEGEND.map(([kind, name, of = SQUARE]) => ({ name, kind, of }))} />
        </ul>
      }
      marks={(width) =>
        seats.map((seat, index) => ({
          x: middleOf(width, seats.length, index),
          y: y(seat.cost),
          title: seatName(seat),
          lines: [
            ['API-equivalent', formatDollars(seat.cost)],
            ['Paid', formatDollars(seat.paid)],
            ['Limits hit', String(hitsOf(seat))],
          ],
        }))
      }
    />
  )
}
