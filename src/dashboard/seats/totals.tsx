import type { ComponentChildren } from 'preact'
import type { Seat, SeatPage } from '../../features/seats/model.ts'
import { loadedOf, useApi } from '../client/api.ts'
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

type Words = (seats: readonly Seat[], total: Pick<SeatPage['total'], 'paid' | 'cost'>) => string

interface GroupProps {
  name: string
  verdict: string
  count: number
  words: Words
}

function Group({
  name,
  verdict,
  count,
  children,
}: Omit<GroupProps, 'words'> & { children: ComponentChildren }) {
  const here = useHere()
  return (
    <Fact name={name} value={formatWhole(count)}>
      {children} {count > 0 && <a href={linkHere(here, { verdict, page: undefined })}>Show them</a>}
    </Fact>
  )
}

interface Asks {
  query: Query
  changes: number
}

/** Asks for what is said of a group, of which the page has not all seats. */
function AskedGroup({ asks: { query, changes }, words, ...group }: GroupProps & { asks: Asks }) {
  const asked = useApi<SeatPage>('/seats', { ...query, verdict: group.verdict, page: undefined }, changes)
  const page = loadedOf(asked)
  return <Group {...group}>{page !== undefined && words(page.data, page.total)}</Group>
}

const sumOf = (seats: readonly Seat[], value: (seat: Seat) => number) =>
  seats.reduce((all, seat) => all + value(seat), 0)

const WORDS: readonly (readonly [name: string, verdict: 'idle' | 'limited' | 'low', Words])[] = [
  [
    'Give back',
    'idle',
    (_, { paid }) => `No session of its vendor came in these days; ${formatDollars(paid)} was paid.`,
  ],
  [
    'Move up',
    'limited',
    (seats) =>
      `${seats.length === 100 ? 'The first 100' : 'They'} hit ${countOf(sumOf(seats, hitsOf), 'limit')} and waited ${formatWhole(sumOf(seats, hoursOf))} h.`,
  ],
  [
    'Look at',
    'low',
    (_, { cost }) => `By API they would have cost ${formatDollars(cost)}, less than a quarter.`,
  ],
]

const NONE = {
  idle: 'Every seat was used.',
  limited: 'Nobody waited for a limit.',
  low: 'Each is used for a quarter of its price at least.',
} as const

/** The two totals, which are never added, and what to do about three groups of seats. */
export function Totals({ page: { data, total, pagination }, ...asks }: Asks & { page: SeatPage }) {
  const groupOf = ([name, verdict, words]: (typeof WORDS)[number]) => {
    const group = { key: verdict, name, verdict, count: total[verdict] }
    if (group.count > 0 && pagination.total > data.length)
      return <AskedGroup {...group} words={words} asks={asks} />
    const seats = data.filter((seat) => seat.verdict === verdict)
    const [paid, cost] = [sumOf(seats, (seat) => seat.paid), sumOf(seats, (seat) => seat.cost)]
    return <Group {...group}>{group.count > 0 ? words(seats, { paid, cost }) : NONE[verdict]}</Group>
  }
  return (
    <div class="tiles">
      <Fact name="Paid" value={formatDollars(total.paid)}>
        for {countOf(total.seats, 'seat')}
      </Fact>
      <Fact name="API-equivalent" value={formatDollars(total.cost)}>
        by the price list, paid by nobody
      </Fact>
      {WORDS.map(groupOf)}
    </div>
  )
}

const hoursOf = ({ limits }: Seat): number =>
  limits.reduce((all, { hours_blocked }) => all + hours_blocked, 0)
