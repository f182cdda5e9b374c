import { type Static, Type } from '@sinclair/typebox'
import { closed, component, Decimal } from '../../analysis/records/fields.ts'
import { GRANULARITIES } from '../../base/dates.ts'
import { choiceOf, oneOf, oneOfOr } from '../../http/query.ts'
import { compareWith, RangeFilters } from '../usage/model.ts'

const score = (description: string) => Decimal(description, 85.2)

export const QualityTrendQuery = Type.Object({
  granularity: oneOfOr(GRANULARITIES, 'day', 'Length of a bucket'),
  include: choiceOf(['quartiles'], '`quartiles`: also those of each bucket', 'quartiles'),
  ...RangeFilters.properties,
})
export type QualityTrendQuery = Static<typeof QualityTrendQuery>

export const QualityQuery = Type.Object({
  ...RangeFilters.properties,
  compare: compareWith('Adds `previous`, the same of another range'),
})
export type QualityQuery = Static<typeof QualityQuery>

const means = {
  average_score: score('mean of all matching sessions, 0 without any'),
  total_sessions: Type.Integer(),
}

export const QualityOverview = component('QualityOverview', {
  ...means,
  trend: oneOf(['up', 'down', 'stable'], {
    description: 'the later half of the days with sessions against the earlier half; stable within 1 point',
  }),
  scores_by_date: Type.Array(
    closed({ date: Type.String({ format: 'date' }), score: score('mean of the day') }),
    { description: 'days with sessions, ascending' },
  ),
  previous: Type.Optional(closed(means, { description: 'In the range of `compare`' })),
})
export type QualityOverview = Static<typeof QualityOverview>

export const QualityTrend = component('QualityTrend', {
  granularity: oneOf(GRANULARITIES),
  data: Type.Array(
    closed({
      date: Type.String({ format: 'date', description: "the bucket's first day; weeks begin on Monday" }),
      score: score('mean of the bucket'),
      sessions: Type.Integer(),
      min_score: score('lowest of the bucket'),
      max_score: score('highest of the bucket'),
      lower_quartile: Type.Optional(
        score('with `include=quartiles`: a quarter of the sessions has at most this'),
      ),
      upper_quartile: Type.Optional(score('three quarters have at most this')),
    }),
  ),
})
export type QualityTrend = Static<typeof QualityTrend>
