import { type Static, Type } from '@sinclair/typebox'
import { GRANULARITIES } from '../dates.ts'
import { DateFrom, DateTo, oneOf, oneOfOr, Project } from '../http/query.ts'
import { strict } from '../records/fields.ts'

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

export const QualityOverview = Type.Object(
  {
    average_score: score('mean of all matching sessions, 0 without any'),
    total_sessions: Type.Integer(),
    trend: oneOf(['up', 'down', 'stable'], {
      description: 'the later half of the days with sessions against the earlier half; stable within 1 point',
    }),
    scores_by_date: Type.Array(
      Type.Object({ date: Type.String({ format: 'date' }), score: score('mean of the day') }, strict),
      { description: 'days with sessions, ascending' },
    ),
  },
  { ...strict, title: 'QualityOverview' },
)
export type QualityOverview = Static<typeof QualityOverview>

export const QualityTrend = Type.Object(
  {
    granularity: oneOf(GRANULARITIES),
    data: Type.Array(
      Type.Object(
        {
          date: Type.String({ format: 'date', description: "the bucket's first day; weeks begin on Monday" }),
          score: score('mean of the bucket'),
          sessions: Type.Integer(),
          min_score: score('lowest of the bucket'),
          max_score: score('highest of the bucket'),
        },
        strict,
      ),
    ),
  },
  { ...strict, title: 'QualityTrend' },
)
export type QualityTrend = Static<typeof QualityTrend>
