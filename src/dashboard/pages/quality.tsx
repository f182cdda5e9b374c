import type { QualityOverview, QualityTrend } from '../../features/quality/model.ts'
import { LineChart } from '../charts/line-chart.tsx'
import { useApi, useAsked } from '../client/api.ts'
import { finestGranularity, periodsOf } from '../client/days.ts'
import { formatPoints, formatScore, formatWhole } from '../client/format.ts'
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
  const overview = useApi<QualityOverview>('/quality', { ...filters, compare: 'previous' })
  const trend = useApi<QualityTrend>('/quality/trend', { ...filters, granularity })
  const shown = useAsked(trend, { range, granularity })
  const lowest = { project, ...range, max_quality: 50, sort: 'quality_score', order: 'asc' }
  return (
    <>
      <Filters />
      <Show loaded={overview} what="quality">
        {({ average_score, total_sessions, previous }) => (
          <Facts
            kind="totals"
            of={[
              ['Mean score', total_sessions === 0 ? UNKNOWN : formatScore(average_score)],
              [
                'Against the range before',
                total_sessions === 0 || !previous?.total_sessions
                  ? UNKNOWN
                  : formatPoints(average_score, previous.average_score),
              ],
              ['Sessions', formatWhole(total_sessions)],
            ]}
          />
        )}
      </Show>
      <Show loaded={trend} what="the trend">
        {({ data }) =>
          data.length === 0 ? (
            <NoSessions />
          ) : (
            <ScoreLine
              title={`Quality by ${shown.granularity}`}
              periods={periodsOf(shown.range, shown.granularity)}
              data={data}
            />
          )
        }
      </Show>
      <p>
        <a href={linkTo('sessions', lowest)}>Sessions with a score of 50 or less</a>
      </p>
    </>
  )
}

interface ScoreLineProps {
  title: string
  periods: readonly string[]
  data: QualityTrend['data']
}

function ScoreLine({ title, periods, data }: ScoreLineProps) {
  const known = new Map(data.map((point) => [point.date, point]))
  const line = (name: string, pick: (point: QualityTrend['data'][number]) => number) => ({
    name,
    kind: 'line' as const,
    values: periods.map((period) => {
      const point = known.get(period)
      return point === undefined ? null : pick(point)
    }),
  })
  return (
    <LineChart
      title={title}
      description="The mean score of the sessions that began in each period, 0 to 100, with the lowest and the highest as a band. High is good."
      periods={periods}
      lines={[line('Mean', ({ score }) => score)]}
      band={[line('Lowest', ({ min_score }) => min_score), line('Highest', ({ max_score }) => max_score)]}
      also={[
        { name: 'Sessions', values: periods.map((period) => formatWhole(known.get(period)?.sessions ?? 0)) },
      ]}
      format={formatScore}
      formatTick={String}
      max={100}
    />
  )
}
