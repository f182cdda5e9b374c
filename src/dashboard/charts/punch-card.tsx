// A chart of weekdays by hours.

import type { CostTrend } from '../../features/cost/model.ts'
import { weekdayOf, weekOf } from '../client/days.ts'
import { formatDay, formatWeekday, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { Figure } from './figure.tsx'

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const LEFT = 36
const TOP = 8
const ROW = 22
/** The width of a week's name. */
const LABEL = 44

/** Sessions by weekday (rows) and week (columns); the area of a circle is their number. */
export function PunchCard({ days }: { days: CostTrend['data'] }) {
  const weeks = [...new Set(days.map(({ period }) => weekOf(period)))]
  const column = new Map(weeks.map((week, index) => [week, index]))
  const max = Math.max(1, ...days.map(({ sessions }) => sessions))
  const height = TOP + ROW * WEEKDAYS.length + 20
  const cellWidth = (width: number) => Math.min(2 * ROW, (width - LEFT) / Math.max(1, weeks.length))
  const positionOf = (day: string, part: number) => ({
    x: LEFT + part * ((column.get(weekOf(day)) ?? 0) + 0.5),
    y: TOP + ROW * (weekdayOf(day) + 0.5),
  })
  const draw = (width: number) => {
    const part = cellWidth(width)
    const every = Math.max(1, Math.ceil(84 / part))
    return (
      <>
        <g class="axes">
          {WEEKDAYS.map((weekday, index) => (
            <text key={weekday} x={LEFT - 8} y={TOP + ROW * (index + 0.5)} dy="0.32em" text-anchor="end">
              {weekday}
            </text>
          ))}
          {weeks.map((week, index) =>
            index % every === 0 && LEFT + part * index < width - LABEL ? (
              <text key={week} x={LEFT + part * index} y={height - 4}>
                {formatDay(week)}
              </text>
            ) : null,
          )}
        </g>
        {days.map(({ period: day, sessions: count }) => {
          const { x, y } = positionOf(day, part)
          const r = count === 0 ? 1 : Math.max(1.5, Math.sqrt(count / max) * (Math.min(ROW, part) / 2 - 0.5))
          return <circle key={day} class={count === 0 ? 'none' : 'series0'} cx={x} cy={y} r={r} />
        })}
      </>
    )
  }
  return (
    <Figure
      title="Sessions of each day, last 26 weeks"
      description="Sessions of each day: a row for each weekday, a column for each week. A larger circle is more sessions."
      of="Day"
      height={height}
      draw={draw}
      isPlane
      marks={(width) =>
        days.map(({ period: day, sessions: count }) => ({
          ...positionOf(day, cellWidth(width)),
          title: formatWeekday(day),
          lines: [['Sessions', formatWhole(count)]],
          href: count === 0 ? undefined : linkTo('sessions', { from: day, to: day }),
        }))
      }
    />
  )
}
