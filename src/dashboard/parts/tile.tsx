import type { ComponentChildren } from 'preact'
import { formatShare } from '../client/format.ts'

interface TileProps {
  name: string
  /** Where the reader finds more. */
  href: string
  value: ComponentChildren
  note?: ComponentChildren
  /** The last 30 days, for a small drawing. */
  days?: readonly number[]
  /** The sums of this range and of the one before, for the change. */
  change?: { now: number; before: number; isGoodUp?: boolean }
}

/** One figure of the overview. */
export function Tile({ name, href, value, note, days, change }: TileProps) {
  return (
    <a class="tile" href={href}>
      <h2>{name}</h2>
      <p class="value">{value}</p>
      {days !== undefined && <Sparkline values={days} />}
      {change !== undefined && <Change {...change} />}
      {note !== undefined && <p class="note">{note}</p>}
    </a>
  )
}

function Change({ now, before, isGoodUp }: { now: number; before: number; isGoodUp?: boolean }) {
  if (before === 0) return <p class="note">30 days; nothing in the 30 before</p>
  const change = (now - before) / before
  const kind =
    isGoodUp === undefined || Math.abs(change) < 0.01 ? '' : change > 0 === isGoodUp ? 'good' : 'bad'
  return (
    <p class="note">
      30 days: <span class={kind}>{`${change > 0 ? '+' : ''}${formatShare(change)}`}</span> against the 30
      before
    </p>
  )
}

const WIDTH = 160
const HEIGHT = 32

function Sparkline({ values }: { values: readonly number[] }) {
  const max = Math.max(...values, 0)
  const part = WIDTH / Math.max(1, values.length)
  return (
    <svg class="spark" width={WIDTH} height={HEIGHT} viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
      {values.map((value, index) => {
        const height = max === 0 ? 0 : Math.max(value > 0 ? 1 : 0, (value / max) * HEIGHT)
        return (
          <rect
            key={index}
            class="series0"
            x={part * index}
            y={HEIGHT - height}
            width={Math.max(1, part - 1)}
            height={height}
          />
        )
      })}
    </svg>
  )
}
