import type { QualityOverview, QualityTrend } from '../../quality/model.ts'
import { ScoreChart } from '../charts/score-chart.tsx'
import { useApi } from '../client/api.ts'
import { syncCommand } from '../client/base.ts'
import { granularityOf } from '../client/days.ts'
import { formatScore, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { Fact } from '../parts/fact.tsx'
import { Filters, rangeOf } from '../parts/filters.tsx'
import { Empty, NoMatch, Show } from '../parts/show.tsx'

/** Mean quality of the sessions, and where the lowest are. */
export function QualityPage({ route: { query } }: PageProps) {
  const range = rangeOf(query)
  const project = query.get('project') ?? undefined
  const filters = { project, date_from: range.from, date_to: range.to }
  const granularity = granularityOf(range)
  const overview = useApi<QualityOverview>('/quality', filters)
  const trend = useApi<QualityTrend>('/quality/trend', { ...filters, granularity })
  const urls = { project, from: range.from, to: range.to }
  return (
    <>
      <Filters query={query} />
      <Show loaded={overview} what="quality">
        {({ average_score, total_sessions, trend: direction }) => (
          <dl class="totals">
            <Fact name="Mean score">{total_sessions === 0 ? '–' : formatScore(average_score)}</Fact>
            <Fact name="Sessions">{formatWhole(total_sessions)}</Fact>
            <Fact name="Trend">{direction}</Fact>
          </dl>
        )}
      </Show>
      <Show loaded={trend} what="the trend">
        {({ data }) =>
          data.length === 0 ? (
            <NoMatch page="quality" query={query} noun="sessions">
              <Empty command={syncCommand()}>
                No sessions in the last 30 days. To send those that coding agents left on a disk:
              </Empty>
            </NoMatch>
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
        <a href={linkTo('sessions', { ...urls, max_quality: 50 })}>Sessions with a score of 50 or less</a>
      </p>
    </>
  )
}
