// Sentences of the page `Seats`: what seats cost, which are idle or little used, and what could be saved.

import type { Plan, Seat, SeatPage } from '../../features/seats/model.ts'
import { countOf, formatDollars, formatShare, formatWhole, inRange, someOf } from '../client/format.ts'

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
  const usdPrice = ({ price_month, usd_rate }: Plan) => price_month * (usd_rate ?? 1)
  const isWhole = pagination.total <= data.length
  const monthOf = (seats: readonly Seat[]) =>
    seats.reduce((sum, seat) => {
      const plan = priceOf(seat)
      return plan === undefined ? Number.NaN : sum + usdPrice(plan) * plan.quantity
    }, 0)
  /** Names the seats of a verdict with their price a month, where the page has all of them. */
  const namesOf = (verdict: Seat['verdict']) => {
    const seats = data.filter((seat) => seat.verdict === verdict)
    const month = monthOf(seats)
    if (!isWhole || Number.isNaN(month)) return ''
    const names = seats.map(
      ({ member, quantity }) => `${whoOf(member)}${quantity > 1 ? ` × ${quantity}` : ''}`,
    )
    return `, ${formatDollars(month)} a month: ${someOf(names, NAMED)}`
  }
  const { seats, paid, cost, idle, low, limited } = total
  const little = data.filter(({ verdict }) => verdict === 'low')
  // a seat may be in force on some days of the range only: both are of these days
  const saved = little.reduce((sum, seat) => sum + monthOf([seat]) * (1 - (seat.ratio ?? 0)), 0)
  // a cheaper plan of the same vendor is one that the organization has already
  const down = little.filter((seat) => {
    const price = priceOf(seat)
    return price && plans.some((plan) => plan.vendor === price.vendor && usdPrice(plan) < usdPrice(price))
  })
  return {
    answer: [
      `${countOf(seats, 'seat')} cost ${formatDollars(paid)} ${inRange(range)}. By API the same work would have cost ${formatDollars(cost)}`,
      `${paid === 0 ? '' : cost < paid ? `: ${formatShare(cost / paid)} of that` : `: ${(cost / paid).toFixed(1)} times as much`}. `,
      idle === 0
        ? 'No seat was idle, '
        : `${countOf(idle, 'seat')} ${idle === 1 ? 'was' : 'were'} idle${namesOf('idle')}; `,
      `${limited === 0 ? 'none' : formatWhole(limited)} waited for limits.`,
    ].join(''),
    low:
      low === 0
        ? ''
        : `${countOf(low, 'seat')} ${low === 1 ? 'was' : 'were'} little used, for less than a quarter of ${low === 1 ? 'its' : 'their'} price${namesOf('low')}. ${
            isWhole && saved > 0
              ? `Without them, their work paid by API, about ${formatDollars(saved)} a month could be saved. `
              : ''
          }${
            down.length === 0
              ? ''
              : `To move down to a cheaper plan of the vendor: ${someOf(
                  down.map(({ member }) => whoOf(member)),
                  NAMED,
                )}. `
          }`,
  }
}
