import type { Plan, Seat, SeatPage } from '../../features/seats/model.ts'
import { countOf, formatDollars, formatWhole, inRange } from '../client/format.ts'

/** Seats that a sentence names. */
const NAMED = 5

/** The page's answer is made of these. */
interface Shown {
  page: SeatPage
  plans: readonly Plan[]
  range: { from: string; to: string }
  whoOf: (id: string | null) => string
}

/** `14 seats cost $569.39 from 31 Oct to 29 Nov. … 2 seats were idle, $50.00 a month: Ada, Ben`, and what is said of those used little. */
export function saidOfSeats({ page: { data, total, pagination }, plans, range, whoOf }: Shown): {
  answer: string
  low: string
} {
  const priceOf = (seat: Seat) =>
    plans.find((plan) =>
      (['vendor', 'plan', 'member', 'from'] as const).every((name) => plan[name] === seat[name]),
    )
  /** Names the seats of a verdict with their price a month, where the page has all of them. */
  const named = (verdict: Seat['verdict']) => {
    const seats = data.filter((seat) => seat.verdict === verdict)
    const prices = seats.map(priceOf)
    if (pagination.total > data.length || prices.includes(undefined)) return ''
    const month = prices.reduce(
      (sum, plan) => sum + (plan ? plan.price_month * plan.quantity * (plan.usd_rate ?? 1) : 0),
      0,
    )
    const others = seats.length > NAMED ? ` and ${countOf(seats.length - NAMED, 'other')}` : ''
    const names = seats
      .slice(0, NAMED)
      .map(({ member, quantity }) => `${whoOf(member)}${quantity > 1 ? ` × ${quantity}` : ''}`)
    return `, ${formatDollars(month)} a month: ${names.join(', ')}${others}`
  }
  const { seats, paid, cost, idle, low, limited } = total
  return {
    answer: [
      `${countOf(seats, 'seat')} cost ${formatDollars(paid)} ${inRange(range)}. By API the same work would have cost ${formatDollars(cost)}`,
      `${paid > 0 ? `: ${(cost / paid).toFixed(1)} times as much` : ''}. `,
      idle === 0
        ? 'No seat was idle, '
        : `${countOf(idle, 'seat')} ${idle === 1 ? 'was' : 'were'} idle${named('idle')}; `,
      `${limited === 0 ? 'none' : formatWhole(limited)} waited for limits.`,
    ].join(''),
    low:
      low === 0
        ? ''
        : `${countOf(low, 'seat')} did work of less than a quarter of ${low === 1 ? 'its' : 'their'} price${named('low')}. `,
  }
}
