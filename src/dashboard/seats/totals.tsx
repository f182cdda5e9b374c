import type { ComponentChildren } from 'preact'
import type { Seat, SeatPage } from '../../features/seats/model.ts'
import { countOf, formatDollars, formatWhole } from '../client/format.ts'
import { linkHere, useHere } from '../client/router.ts'
import { hitsOf } from './seat-chart.tsx'

interface FactProps {
  name: string
  value: string
  children: ComponentChildren
}

const Fact = ({ name, value, children }: FactProps) => (
  <div class="tile">
    <h2>{name}</h2>
    <p class="value">{value}</p>
    <p class="note">{children}</p>
  </div>
)

/** The two totals, which are never added, and what to do about three groups of seats. */
export function Totals({ page: { data, total, pagination } }: { page: SeatPage }) {
  const here = useHere()
  /** Sums are said only where all seats are on this page. */
  const isWhole = pagination.total === data.length
  const of = (wanted: string) => data.filter(({ verdict }) => verdict === wanted)
  const sum = (some: readonly Seat[], value: (seat: Seat) => number) =>
    some.reduce((all, seat) => all + value(seat), 0)
  const group = (name: string, verdict: string, count: number, words: (seats: Seat[]) => string) => (
    <Fact name={name} value={formatWhole(count)}>
      {count > 0 && isWhole && `${words(of(verdict))} `}
      {count > 0 && <a href={linkHere(here, { verdict, page: undefined })}>Show them</a>}
    </Fact>
  )
  return (
    <div class="tiles">
      <Fact name="Paid" value={formatDollars(total.paid)}>
        for {countOf(total.seats, 'seat')}
      </Fact>
      <Fact name="API-equivalent" value={formatDollars(total.cost)}>
        by the price list, paid by nobody
      </Fact>
      {group(
        'Give back',
        'idle',
        total.idle,
        (seats) => `Nothing came in these days; ${formatDollars(sum(seats, ({ paid }) => paid))} was paid.`,
      )}
      {group(
        'Move up',
        'limited',
        total.limited,
        (seats) =>
          `They hit ${countOf(sum(seats, hitsOf), 'limit')} and waited ${formatWhole(sum(seats, hoursOf))} h.`,
      )}
      {group(
        'Look at',
        'low',
        total.low,
        (seats) =>
          `By API they would have cost ${formatDollars(sum(seats, ({ cost }) => cost))}, less than a quarter.`,
      )}
    </div>
  )
}

const hoursOf = ({ limits }: Seat): number =>
  limits.reduce((all, { hours_blocked }) => all + hours_blocked, 0)
