// The commands `seats` (what each costs, and what its work would have cost) and `limits`.

import { Type } from '@sinclair/typebox'
import { type MySeats, type Seat, type SeatPage, SeatQuery } from '../../features/seats/model.ts'
import type { OrgOptions } from '../client/find-server.ts'
import type { Context } from '../command/context.ts'
import { type Colour, type Column, draw } from '../command/table.ts'
import { fractionOf, pageText } from './figure-text.ts'
import { counted, minute, money, percent, whole } from './numbers.ts'
import { NONE } from './options.ts'
import { figure, type View } from './source.ts'

const COLOURS: Readonly<Record<string, Colour>> = { idle: 'yellow', limited: 'red', low: 'yellow' }

export const showSeats = figure<SeatPage>({
  path: '/seats',
  query: SeatQuery,
  hasOwnRange: true,
  text: seatsText,
})

function seatsText(page: SeatPage, view: View): string {
  const { seats, paid, cost, idle, limited } = page.total
  const largest = Math.max(...page.data.map((seat) => seat.cost))
  return pageText(view, page, {
    heading:
      `${counted(seats, 'seat')}: ${money(paid)} paid; by API the same work would have cost ${money(cost)}; ` +
      `${whole(idle)} idle, ${whole(limited)} limited`,
    columns: SEATS,
    bars: {
      fraction: (seat) => fractionOf(seat.cost, largest),
      colour: ({ verdict }) => COLOURS[verdict ?? ''] ?? 'green',
    },
    what: 'rows',
    none: 'no plan is known: cloud-analytics plan set --help',
  })
}

const SEATS: readonly Column<Seat>[] = [
  { head: 'MEMBER', value: ({ member }) => member ?? NONE, least: 8 },
  { head: 'VENDOR', value: ({ vendor }) => vendor, spare: 4 },
  { head: 'PLAN', value: ({ plan, quantity }) => `${plan ?? NONE}${quantity > 1 ? ` × ${quantity}` : ''}` },
  { head: 'PAID', value: ({ paid }) => money(paid), right: true },
  { head: 'COST', value: ({ cost }) => money(cost), right: true },
  { head: 'RATIO', value: ({ ratio }) => (ratio === null ? '–' : ratio.toFixed(1)), right: true, spare: 2 },
  { head: 'DAYS', value: ({ active_days }) => whole(active_days), right: true, spare: 3 },
  {
    head: 'HITS',
    value: ({ limits }) => whole(limits.reduce((sum, { hits }) => sum + hits, 0)),
    right: true,
    spare: 1,
  },
  {
    head: 'VERDICT',
    value: ({ verdict }) => verdict ?? '–',
    colour: ({ verdict }) => COLOURS[verdict ?? ''],
  },
]

/** `limits`: those of the caller, or with --org of everybody. */
export const showLimits = (context: Context, options: OrgOptions) =>
  options.org === undefined
    ? figure<MySeats>({ path: '/seats/mine', query: Type.Object({}), text: mineText })(context, options)
    : figure<SeatPage>({ path: '/seats', query: SeatQuery, hasOwnRange: true, text: limitsText })(context, {
        ...options,
        perPage: '100',
      } as OrgOptions)

const limitName = ({ limit, scope }: { limit: string; scope: string | null }) =>
  scope === null ? limit : `${limit} (${scope})`

function mineText({ plans, windows }: MySeats, { screen }: View): string {
  const planNames = plans.map(({ vendor, plan, from }) => `${vendor} ${plan}, since ${from}`)
  if (windows.length === 0) return [...planNames, 'no limit is known that is not over'].join('\n')
  return [
    ...planNames,
    draw(screen, windows, [
      { head: 'VENDOR', value: ({ vendor }) => vendor },
      { head: 'LIMIT', value: limitName },
      { head: 'USED', value: ({ used_percent }) => percent(used_percent / 100), right: true },
      { head: 'RESETS', value: ({ resets_at }) => (resets_at === null ? '–' : minute(resets_at)) },
      { head: 'HIT', value: ({ hit }) => (hit ? 'yes' : '') },
    ]),
  ].join('\n\n')
}

function limitsText(page: SeatPage, view: View): string {
  const data = page.data.flatMap((seat) => seat.limits.map((limit) => ({ ...seat, ...limit })))
  const pagination = { ...page.pagination, total: data.length }
  return pageText(
    view,
    { data, pagination },
    {
      heading: 'Limits of plans',
      columns: [
        { head: 'MEMBER', value: ({ member }) => member ?? NONE, least: 8 },
        { head: 'PLAN', value: ({ vendor, plan }) => `${vendor} ${plan ?? NONE}` },
        { head: 'LIMIT', value: limitName },
        { head: 'PEAK', value: ({ peak_percent }) => percent(peak_percent / 100), right: true },
        {
          head: 'NOW',
          value: ({ current }) => (current === null ? '–' : percent(current / 100)),
          right: true,
        },
        { head: 'WINDOWS', value: ({ windows }) => whole(windows), right: true },
        { head: 'HITS', value: ({ hits }) => whole(hits), right: true },
        { head: 'HOURS', value: ({ hours_blocked }) => hours_blocked.toFixed(1), right: true },
      ],
      bars: {
        fraction: ({ peak_percent }) => Math.min(1, peak_percent / 100),
        colour: ({ hits }) => (hits > 0 ? 'red' : 'green'),
      },
      what: 'limits',
      none: 'no limit is known in the last 30 days',
    },
  )
}
