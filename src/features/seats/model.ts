import { type Static, Type } from '@sinclair/typebox'
import { closed, component, Decimal, Flag, nullable, strict, Text } from '../../analysis/records/fields.ts'
import { PLAN_FIELDS, PlanRecord } from '../../analysis/records/plan.ts'
import { VENDORS } from '../../analysis/records/session.ts'
import { choiceOf, DayRange, oneOf, Paged, PageOf, Pagination, textFilter } from '../../http/query.ts'
import { Team } from '../usage/model.ts'

const Day = Type.String({ format: 'date', examples: ['2026-11-01'] })
const vendor = oneOf(VENDORS, { description: 'Who is paid', examples: ['anthropic'] })
const plan = Type.String({ examples: ['max_5x'] })
const to = nullable(
  Type.String({ format: 'date', description: 'Last day, inclusive; null: until further notice' }),
)
const { quantity, price_month, currency, usd_rate, included_credits } = PLAN_FIELDS

export const Plan = component('Plan', {
  id: Type.String({ examples: ['plan_7h2k9d'] }),
  ...{ vendor, plan },
  member: nullable(Text('An id; null: seats of everybody without a plan of the vendor, or not shown')),
  ...{ quantity, from: Day, to, price_month, currency },
  usd_rate: nullable(usd_rate),
  included_credits: nullable(included_credits),
})
export type Plan = Static<typeof Plan>

const filters = {
  vendor: choiceOf(VENDORS, 'Only of this vendor', 'anthropic'),
  plan: textFilter('Only of this plan', 'max_5x', 100),
  member: textFilter('Only of this member: an id, or an address in any case', 'ada@example.com', 320),
}

export const PlanListQuery = Type.Object({ ...filters, ...Paged })
export type PlanListQuery = Static<typeof PlanListQuery>
export const PlanPage = PageOf(Plan)
export type PlanPage = Static<typeof PlanPage>

export const NewPlanQuery = Type.Object({
  replace: choiceOf(
    ['true', 'false'],
    'End the one that is in force (of the member and vendor, or these shared seats) the day before',
    'true',
  ),
})

const { type: _type, id: _id, ...named } = PlanRecord.properties
export const NewPlanBody = closed(named, {
  title: 'NewPlan',
  examples: [{ vendor: 'other', plan: 'example', from: '2026-11-01', to: '2026-11-01', price_month: 0 }],
})
export type NewPlanBody = Static<typeof NewPlanBody>
export const PlanChangeBody = Type.Partial(NewPlanBody, {
  ...{ ...strict, title: 'PlanChange' },
  examples: [{ plan: 'team_premium' }],
})
export type PlanChangeBody = Static<typeof PlanChangeBody>

export const VERDICTS = ['new', 'idle', 'limited', 'low', 'fits'] as const

export const SeatQuery = Type.Object({
  ...DayRange,
  ...filters,
  team: Team,
  verdict: choiceOf(VERDICTS, 'Only with this verdict', 'idle'),
  ...Paged,
})
export type SeatQuery = Static<typeof SeatQuery>

const limit = Type.String({ examples: ['five_hour'] })
const scope = nullable(Text('The family of models that it is for; null: all'))
const count = (description: string) => Type.Integer({ minimum: 0, description })

const SeatLimit = closed({
  ...{ limit, scope },
  peak_percent: Type.Number({ examples: [100] }),
  windows: count('Windows of the range of which something is known'),
  hits: count('Those in which the agent was refused'),
  hours_blocked: Decimal(
    'From the first hit of each window to its end, or the next call that succeeded',
    1.833333,
  ),
  overage: Flag('Whether work went on beyond the limit at a price'),
  current: nullable(Decimal('Percent of the window that is not over')),
})

export const Seat = component('Seat', {
  member: Plan.properties.member,
  vendor,
  plan: nullable(Text('null: calls that a plan paid of which none is known')),
  quantity: Type.Integer({ minimum: 0, examples: [1] }),
  from: nullable(Day),
  to,
  paid: Decimal('US dollars for the days in force of the range', 100),
  cost: Decimal(
    'What the calls that the plan paid would have cost by the price list; never added to `paid`',
    741.25,
  ),
  ratio: nullable(Decimal('cost ÷ paid', 7.4125)),
  sessions: count('Of this vendor, that began in the range'),
  active_days: count('Days with a call of this vendor'),
  last_active_day: nullable(Type.String({ format: 'date', examples: ['2026-11-28'] })),
  limits: Type.Array(SeatLimit),
  pool: nullable(
    closed(
      {
        credits: Type.Number({ examples: [5700] }),
        used: nullable(Decimal('Known for GitHub')),
        percent: nullable(Type.Number({ examples: [80] })),
      },
      { description: 'The credits of all seats of the vendor’s plan' },
    ),
  ),
  verdict: nullable(oneOf(VERDICTS, { description: 'The first that holds; null without a plan' })),
})
export type Seat = Static<typeof Seat>

const SeatTotal = closed(
  {
    seats: count('Quantities of all seats'),
    ...{ paid: Type.Number({ examples: [4200] }), cost: Type.Number({ examples: [8750.83] }) },
    ...{ idle: count('Seats of this verdict'), low: count('Likewise'), limited: count('Likewise') },
  },
  { title: 'SeatTotal', description: 'It counts the seats of all pages' },
)

export const SeatPage = Type.Object(
  {
    currency: Type.Literal('USD'),
    data: Type.Array(Seat),
    total: SeatTotal,
    pagination: Pagination,
  },
  { additionalProperties: false, title: 'SeatPage' },
)
export type SeatPage = Static<typeof SeatPage>

export const MySeats = component('MySeats', {
  plans: Type.Array(closed({ vendor, plan, from: Day, to })),
  windows: Type.Array(
    closed({
      ...{ vendor, limit, scope },
      used_percent: Type.Number({ examples: [62] }),
      resets_at: nullable(Type.String({ format: 'timestamp', examples: ['2026-11-05T10:00:00.000Z'] })),
      hit: Type.Boolean(),
    }),
    { description: 'Those that are not over' },
  ),
})
export type MySeats = Static<typeof MySeats>
