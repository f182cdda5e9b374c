// The page `Seats`: what seats cost beside what their work would have cost; to those who are no admin, their own limits.

import type { Plan, PlanPage, Seat, SeatPage } from '../../features/seats/model.ts'
import { request, useApi } from '../client/api.ts'
import { today } from '../client/days.ts'
import { formatDay, formatPercent, formatTimes, formatWhole } from '../client/format.ts'
import { isAdmin, linkTo, type PageProps } from '../client/links.ts'
import { useMembers } from '../client/lists.ts'
import { datesOf, rangeOf } from '../client/ranges.ts'
import { Bar } from '../frame/bar.tsx'
import { pick } from '../parts/fields.tsx'
import { Asked, Form, Input, Saying, useChanges } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { Answer, Empty, Ready } from '../parts/show.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { dollarColumn, NamedLink, orUnknown, UNKNOWN } from '../parts/values.tsx'
import { NoSeats } from './no-seats.tsx'
import { OwnSeats } from './own-seats.tsx'
import { addPlan, nameOfPlan, PlanForm } from './plan-form.tsx'
import { hitsOf, SeatChart } from './seat-chart.tsx'
import { Totals } from './seat-totals.tsx'
import { saidOfSeats } from './seat-words.ts'

const FILTERS = ['team', 'member', 'vendor', 'plan', 'verdict'] as const
const TONES: Readonly<Record<string, string>> = { idle: 'fair', limited: 'bad', low: 'fair' }

export const SeatsPage = (props: PageProps) => (isAdmin(props.who) ? <AllSeats {...props} /> : <OwnSeats />)

function AllSeats({ route: { query } }: PageProps) {
  const { count, said: saying, run } = useChanges()
  const range = rangeOf(query)
  const list = { ...datesOf(query), ...pick(query, ...FILTERS, 'page'), per_page: 100 }
  const seats = useApi<SeatPage>('/seats', list, count)
  const plans = useApi<PlanPage>('/plans', { per_page: 100 }, count)
  const rows = plans.value?.data ?? []
  const members = useMembers(true)
  const whoOf = (id: string | null) => (id === null ? 'shared' : (members.get(id)?.name ?? id))
  const page = seats.value
  const total = page?.total
  const said = page && saidOfSeats({ page, plans: rows, range, whoOf })
  const add = (isReplaced: boolean) => (fields: Parameters<typeof addPlan>[0]) =>
    run(() => addPlan(fields, isReplaced)).then((added) => added !== undefined)
  return (
    <>
      <Bar filters={FILTERS} csv={{ path: '/seats', query: list, name: 'seats' }} />
      <Ready of={[seats, plans]}>
        {total === undefined || page === undefined ? (
          <Answer>Seats</Answer>
        ) : rows.length === 0 ? (
          <NoSeats dates={datesOf(query)} />
        ) : (
          <>
            <Answer
              soft={
                <>
                  {said?.low}API-equivalent is what the calls that a plan paid would have cost by the price
                  list. It is no money that anybody paid, and is never added to it. A seat is idle when no
                  session of its vendor came: also when its machine{' '}
                  <a href={linkTo('devices')}>sends nothing</a>.
                </>
              }
            >
              {said?.answer}
            </Answer>
            <Totals page={page} query={list} changes={count} />
            <SeatChart
              seats={page.data.filter(({ plan }) => plan !== null)}
              seatName={(seat) => `${whoOf(seat.member)}, ${nameOfPlan(seat)}`}
            />
          </>
        )}
        <Saying said={saying} />
        {(rows.length > 0 || (page !== undefined && page.data.length > 0)) && (
          <List
            loaded={seats}
            noun="rows"
            empty={
              <Empty command="cloud-analytics plan import seats.csv --org acme">
                Enter what is paid below, or by a command:
              </Empty>
            }
            caption="Seats"
            keyOf={(seat) => JSON.stringify([seat.member, seat.vendor, seat.plan, seat.from])}
            columns={seatColumns(whoOf, add(true))}
            total={total && totalRow(total)}
          />
        )}
        <details open={rows.length === 0}>
          <summary>New plan</summary>
          <PlanForm plans={rows} onSend={add(false)} />
        </details>
        {rows.length > 0 && (
          <details>
            <summary>Plans that are entered</summary>
            <Table
              caption="Plans"
              rows={rows}
              columns={planColumns(whoOf, (id, change) =>
                run(() =>
                  request(
                    `/plans/${id}`,
                    change === undefined ? { method: 'DELETE' } : { method: 'PATCH', body: change },
                  ),
                ),
              )}
            />
          </details>
        )}
      </Ready>
    </>
  )
}

const totalRow = ({ paid, cost }: SeatPage['total']): Seat => ({
  ...{ member: null, vendor: 'other', plan: null, quantity: 0, from: null, to: null, paid, cost },
  ...{ ratio: paid > 0 ? cost / paid : null, sessions: 0, active_days: 0, last_active_day: null },
  ...{ limits: [], pool: null, verdict: null },
})

const isTotal = (seat: Seat) => seat.plan === null && seat.vendor === 'other' && seat.sessions === 0

function seatColumns(
  whoOf: (id: string | null) => string,
  change: Parameters<typeof Form>[0]['onSend'],
): Column<Seat>[] {
  return [
    {
      name: 'Person',
      value: ({ member }) => whoOf(member),
      cell: ({ member }) =>
        member === null ? (
          <bdi>{whoOf(member)}</bdi>
        ) : (
          <NamedLink to={linkTo('team', {}, member)}>{whoOf(member)}</NamedLink>
        ),
    },
    {
      name: 'Plan',
      phone: 'also',
      value: nameOfPlan,
      cell: (seat) =>
        isTotal(seat) ? '' : `${nameOfPlan(seat)}${seat.quantity > 1 ? ` × ${seat.quantity}` : ''}`,
    },
    dollarColumn('Paid', 'paid'),
    { ...dollarColumn('API-equivalent', 'cost'), phone: 'main' },
    { name: 'Ratio', value: ({ ratio }) => ratio, number: ({ ratio }) => orUnknown(ratio, formatTimes) },
    {
      name: 'Days used',
      value: ({ active_days }) => active_days,
      number: (seat) => (isTotal(seat) ? '' : formatWhole(seat.active_days)),
    },
    {
      name: 'Limits hit',
      value: hitsOf,
      number: (seat) => (isTotal(seat) ? '' : hitsOf(seat) > 0 ? formatWhole(hitsOf(seat)) : UNKNOWN),
    },
    {
      name: 'Credits',
      number: (seat) =>
        isTotal(seat)
          ? ''
          : orUnknown(seat.pool?.percent, (percent) => `${formatPercent(percent)} of the pool`),
    },
    {
      name: 'Verdict',
      phone: 'also',
      value: ({ verdict }) => verdict,
      cell: ({ verdict }) => (verdict === null ? '' : <span class={TONES[verdict] ?? ''}>{verdict}</span>),
    },
    {
      name: 'Change',
      cell: ({ vendor, member, plan }) =>
        plan !== null &&
        member !== null && (
          <details>
            <summary>Change plan</summary>
            <Form send="Change" onSend={(fields, all) => change({ ...fields, vendor, member }, all)}>
              <Input label="New plan" name="plan" required maxLength={100} />
              <Input
                label="US dollars a month"
                {...{ name: 'price', type: 'number', required: true, min: 0, max: 100_000, step: 'any' }}
              />
              <Input label="From" name="from" type="date" required defaultValue={today()} />
            </Form>
          </details>
        ),
    },
  ]
}

const planColumns = (
  whoOf: (id: string | null) => string,
  change: (id: string, body?: Partial<Plan>) => Promise<unknown>,
): Column<Plan>[] => [
  { name: 'Plan', value: nameOfPlan, cell: nameOfPlan },
  {
    name: 'Person',
    phone: 'also',
    value: ({ member }) => whoOf(member),
    cell: ({ member }) => whoOf(member),
  },
  { name: 'Seats', value: ({ quantity }) => quantity, number: ({ quantity }) => formatWhole(quantity) },
  {
    name: 'Price',
    phone: 'main',
    value: ({ price_month }) => price_month,
    number: ({ price_month, currency }) => `${price_month} ${currency}`,
  },
  { name: 'From', value: ({ from }) => from, cell: ({ from }) => formatDay(from) },
  { name: 'To', phone: 'also', value: ({ to }) => to, cell: ({ to }) => orUnknown(to, formatDay) },
  {
    name: 'Change',
    cell: ({ id, to }) => (
      <div class="actions">
        {to === null && (
          <Asked question="End it today?" act={() => change(id, { to: today() })}>
            End
          </Asked>
        )}
        <Asked question="As if it had never been paid?" act={() => change(id)}>
          Delete
        </Asked>
      </div>
    ),
  },
]
