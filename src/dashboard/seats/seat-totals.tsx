// The two totals of the page `Seats`, which are never added, and what to do about three groups of seats.

import type { ComponentChildren } from 'preact'
import type { Seat, SeatPage } from '../../features/seats/model.ts'
import { useApi } from '../client/api.ts'
import { countOf, formatDollars, formatWhole } from '../client/format.ts'
import type { Query } from '../client/links.ts'
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

const seatSum = (seats: readonly Seat[], value: (seat: Seat) => number) =>
  seats.reduce((all, seat) => all + value(seat), 0)
const hoursOf = ({ limits }: Seat): number =>
  limits.reduce((all, { hours_blocked }) => all + hours_blocked, 0)

type PagePart = { data: readonly Seat[]; total: Pick<SeatPage['total'], 'paid' | 'cost'> }

/** Seats of a verdict: what to do, what is said of them, and of none. */
const GROUPS = [
  {
    name: 'Give back',
    verdict: 'idle',
    word: 'idle',
    none: 'No seat stood idle.',
    said: ({ total: { paid } }: PagePart) =>
      `No session of its vendor came in these days; ${formatDollars(paid)} was paid.`,
  },
  {
    name: 'Move up',
    verdict: 'limited',
    word: 'limited',
    none: 'Nobody waited for a limit.',
    said: ({ data }: PagePart) =>
      `${data.length === 100 ? 'The first 100' : 'They'} hit ${countOf(seatSum(data, hitsOf), 'limit')} and waited ${formatWhole(seatSum(data, hoursOf))} h.`,
  },
  {
    name: 'Look at',
    verdict: 'low',
    word: 'little used',
    none: 'Each is used for a quarter of its price at least.',
    said: ({ total: { cost } }: PagePart) =>
      `By API they would have cost ${formatDollars(cost)}, less than a quarter.`,
  },
] as const

interface TotalsProps {
  page: SeatPage
  query: Query
  changes: number
}

interface GroupProps extends TotalsProps {
  of: (typeof GROUPS)[number]
}

function Group({ of: { name, verdict, word, none, said }, page, query, changes }: GroupProps) {
  const here = useHere()
  const count = page.total[verdict]
  // the page may not have all of them
  const isAsked = count > 0 && page.pagination.total > page.data.length
  const path = isAsked ? '/seats' : undefined
  const asked = useApi<SeatPage>(path, { ...query, verdict, page: undefined }, changes)
  const data = page.data.filter((seat) => seat.verdict === verdict)
  const total = { paid: seatSum(data, ({ paid }) => paid), cost: seatSum(data, ({ cost }) => cost) }
  const result = isAsked ? asked.value : { data, total }
  return (
    <Fact name={name} value={`${formatWhole(count)} ${word}`}>
      {count === 0 ? none : result && said(result)}{' '}
      {count > 0 && <a href={linkHere(here, { verdict, page: undefined })}>Show them</a>}
    </Fact>
  )
}

export function Totals(props: TotalsProps) {
  const { paid, seats, cost } = props.page.total
  return (
    <div class="tiles">
      <Fact name="Paid" value={formatDollars(paid)}>
        for {countOf(seats, 'seat')}
      </Fact>
      <Fact name="API-equivalent" value={formatDollars(cost)}>
        by the price list, paid by nobody
      </Fact>
      {GROUPS.map((of) => (
        <Group key={of.verdict} of={of} {...props} />
      ))}
    </div>
  )
}
