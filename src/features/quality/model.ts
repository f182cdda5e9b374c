import { type Static, Type } from '@sinclair/typebox'
import { closed, component } from '../../analysis/records/fields.ts'
import { GRANULARITIES } from '../../base/dates.ts'
import { DateFrom, DateTo, oneOf, oneOfOr, Project } from '../../http/query.ts'

const score = (description: string) => Type.Number({ description, examples: [85.2] })

export const QualityQuery = Type.Object({
  project: Project,
  date_from: DateFrom,
  date_to: DateTo,
})
export type QualityQuery = Static<typeof QualityQuery>

export const QualityTrendQuery = Type.Object({
  granularity: oneOfOr(GRANULARITIES, 'day', 'Length of a bucket'),
  ...QualityQuery.properties,
})
export type QualityTrendQuery = Static<typeof QualityTrendQuery>

export const QualityOverview = component('QualityOverview', {
  average_score: score('mean of all matching sessions, 0 without any'),
  total_sessions: Type.Integer(),
  trend: oneOf(['up', 'down', 'stable'], {
    description: 'the later half of the days with sessions against the earlier half; stable within 1 point',
  }),
  scores_by_date: Type.Array(
    closed({ date: Type.String({ format: 'date' }), score: score('mean of the day') }),
    { description: 'days with sessions, ascending' },
  ),
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
    }),
  ),
})
export type QualityTrend = Static<typeof QualityTrend>
