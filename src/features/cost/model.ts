import { type Static, Type } from '@sinclair/typebox'
import { closed, component, Decimal, Integer, nullable, Text } from '../../analysis/records/fields.ts'
import { GRANULARITIES } from '../../base/dates.ts'
import { oneOf, oneOfOr } from '../../http/query.ts'
import { compareWith, RangeFilters } from '../usage/model.ts'

const dollars = (description: string) => Decimal(`${description}; US dollars`, 128.4)
const date = (description: string) => Type.String({ format: 'date', description, examples: ['2026-11-01'] })

export const PriceGuessQuery = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Of a model, as sessions have it',
    examples: ['gpt-6.9-sol'],
  }),
})
export const PriceGuess = component('PriceGuess', {
  nearest: nullable(
    Text('The nearest model of the family; null: none, or the model has a price', 'gpt-6.2-sol'),
  ),
  line: nullable(
    Text(
      'For the file of `MODEL_PRICES`, with blanks where nothing is known; null: the model has a price',
      '"gpt-6.9-sol": { "input": 2, "output": 10, "cache_read": 0.1, "cache_write": 2.5 }',
    ),
  ),
})

export type PriceGuess = Static<typeof PriceGuess>

export const CostQuery = Type.Object({
  ...RangeFilters.properties,
  group_by: oneOfOr(GRANULARITIES, 'day', 'Length of a period in by_period'),
  compare: compareWith('Adds `previous`, the same of another range'),
})
export type CostQuery = Static<typeof CostQuery>

export const CostTrendQuery = Type.Object({
  granularity: oneOfOr(GRANULARITIES, 'day', 'Length of a bucket'),
  ...RangeFilters.properties,
})
export type CostTrendQuery = Static<typeof CostTrendQuery>

export const Budget = component('Budget', {
  id: Type.String({ examples: ['budget_3k9d'] }),
  scope: oneOf(['organization', 'project'], {
    description: '`project`: of the project that is asked for, where it has one',
  }),
  period: Type.Literal('monthly'),
  period_start: date('first day of the current month'),
  period_end: date('its last day'),
  limit: dollars('for the month'),
  current_cost: dollars('spent this month'),
  remaining: dollars('limit less what was spent, 0 when exceeded'),
  percent_used: Type.Number(),
  alert_threshold: Decimal('percent used from which the status is warning'),
  status: oneOf(['ok', 'warning', 'exceeded']),
  projected_cost: dollars(
    "at the month's end: spent until yesterday, the larger of today and the daily mean, and the mean for each day left",
  ),
  projected_exceed_date: nullable(
    date('when that forecast passes the limit (or when it was passed); null if not this month'),
  ),
  currency: Type.Literal('USD'),
})
export type Budget = Static<typeof Budget>

const totals = {
  total_cost: dollars('of all that was used in the range'),
  unpriced_tokens: Integer(
    'tokens used in the range whose price is not known: total_cost is without them',
    0,
  ),
}

export const CostSummary = component('CostSummary', {
  ...totals,
  current_month: dollars('of the current month, date filters aside'),
  currency: Type.Literal('USD'),
  by_period: Type.Array(closed({ period: date('first day of the period'), cost: dollars('of the period') })),
  by_project: Type.Array(
    closed({ project: nullable(Type.String()), cost: dollars('of the project, null: of none') }),
  ),
  current_budget: nullable(Budget),
  previous: Type.Optional(closed(totals, { description: 'In the range of `compare`' })),
})
export type CostSummary = Static<typeof CostSummary>

const TREND_GRANULARITIES = [...GRANULARITIES, 'year'] as const
export type TrendGranularity = (typeof TREND_GRANULARITIES)[number]

export const CostTrend = component('CostTrend', {
  granularity: oneOf(TREND_GRANULARITIES, {
    description:
      'as asked for; the next coarser one where an end of the range that is not given makes more than 10,000 buckets',
  }),
  data: Type.Array(
    closed({
      period: date('first day of the bucket; weeks begin on Monday'),
      cost: dollars('of the bucket'),
      sessions: Type.Integer(),
      cumulative_cost: dollars('up to and with the bucket'),
      budget: nullable(dollars('monthly limit of the organization in force on the first day of the bucket')),
    }),
  ),
})
export type CostTrend = Static<typeof CostTrend>
