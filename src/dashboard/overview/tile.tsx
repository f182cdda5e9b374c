import type { ComponentChildren } from 'preact'
import { formatShare, signed } from '../client/format.ts'

interface TileProps {
  name: string
  /** The reader finds more there. */
  href: string
  /** The figure of the last 30 days; not a number where there is nothing to measure. */
  now: number
  /** The figure of the 30 days before, where it is known. */
  before?: number | undefined
  /** The figure that is compared with it, where `now` has today too. */
  compared?: number | undefined
  format: (value: number) => string
  /** Writes its change, else a share: one of few, or of a score, says little. */
  difference?: (now: number, before: number) => string
  /** The change that is good, where one is. */
  isGoodUp?: boolean
  note?: ComponentChildren
  /** The last 30 days, for a small drawing. */
  days?: readonly number[] | undefined
}

/** One figure of the overview. */
export function Tile(props: TileProps) {
  const { name, href, now, before, compared = now, format, difference, isGoodUp, note, days } = props
  return (
    <a class="tile" href={href}>
      <h2>{name}</h2>
      <p class="value">{Number.isNaN(now) ? '–' : format(now)}</p>
      {days !== undefined && <Sparkline values={days} />}
      {before !== undefined && !Number.isNaN(now) && (
        <p class="note">
          <Change {...{ now: compared, before, difference, isGoodUp }} />
        </p>
      )}
      {note !== undefined && <p class="note">{note}</p>}
    </a>
  )
}

interface ChangeProps {
  now: number
  before: number
  difference: TileProps['difference']
  isGoodUp: boolean | undefined
}

function Change({ now, before, difference, isGoodUp }: ChangeProps) {
  if (!(before > 0)) return <>none in the 30 days before</>
  const change = (now - before) / before
  if (Math.abs(change) < 0.0005) return <>as in the 30 days before</>
  const kind =
    isGoodUp === undefined || Math.abs(change) < 0.01 ? '' : change > 0 === isGoodUp ? 'good' : 'bad'
  return (
    <>
      <span class={kind}>{difference?.(now, before) ?? signed(change, formatShare)}</span> against the 30 days
      before
    </>
  )
}

const WIDTH = 160
const HEIGHT = 32

function Sparkline({ values }: { values: readonly number[] }) {
  const max = Math.max(...values, 0)
  const part = WIDTH / Math.max(1, values.length)
  return (
    <svg class="spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
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
