import type { QualityOverview, QualityTrend } from '../../quality/model.ts'
import { ScoreChart } from '../charts/score-chart.tsx'
import { useApi } from '../client/api.ts'
import { finestGranularity } from '../client/days.ts'
import { formatScore, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { UNKNOWN } from '../parts/columns.tsx'
import { Facts } from '../parts/fact.tsx'
import { datesOf, Filters, rangeOf } from '../parts/filters.tsx'
import { NoSessions, Show } from '../parts/show.tsx'

/** Points of the chart at most; months, however many. */
const MAX_POINTS = 62

/** Mean quality of the sessions, and where the lowest are. */
export function QualityPage({ route: { query } }: PageProps) {
  const range = rangeOf(query)
  const project = query.get('project') ?? undefined
  const filters = { project, ...datesOf(query) }
  const granularity = finestGranularity(range, MAX_POINTS)
  const overview = useApi<QualityOverview>('/quality', filters)
  const trend = useApi<QualityTrend>('/quality/trend', { ...filters, granularity })
  return (
    <>
      <Filters query={query} />
      <Show loaded={overview} what="quality">
        {({ average_score, total_sessions, trend: direction }) => (
          <Facts
            kind="totals"
            of={[
              ['Mean score', total_sessions === 0 ? UNKNOWN : formatScore(average_score)],
              ['Sessions', formatWhole(total_sessions)],
              ['Trend', direction],
            ]}
          />
        )}
      </Show>
      <Show loaded={trend} what="the trend">
        {({ data }) =>
          data.length === 0 ? (
            <NoSessions page="quality" query={query} />
          ) : (
            <ScoreChart
              title={`Quality by ${granularity}`}
              description={`The mean score of the sessions of each ${granularity}, 0 to 100, with the lowest and the highest as a band. High is good.`}
              data={data}
            />
          )
        }
      </Show>
      <p>
        <a
          href={linkTo('sessions', {
            project,
            ...range,
            max_quality: 50,
            sort: 'quality_score',
            order: 'asc',
          })}
        >
          Sessions with a score of 50 or less
        </a>
      </p>
    </>
  )
}
