// The page `Quality`: how smoothly sessions went, and where the lowest scores are.

import type { QualityOverview, QualityTrend } from '../../features/quality/model.ts'
import type { SessionListItem } from '../../features/sessions/model.ts'
import { ScoreChart } from '../charts/score-chart.tsx'
import { type Loaded, type Page, useApi, useAsked } from '../client/api.ts'
import { datesIn, finestGranularity, periodsOf } from '../client/days.ts'
import { countOf, formatPoints, formatRange, formatScore } from '../client/format.ts'
import { isAdmin, keptOf, linkTo, type PageProps } from '../client/links.ts'
import { comparedOf, datesOf, rangeOf } from '../client/ranges.ts'
import { Bar } from '../frame/bar.tsx'
import { NotesForm, noteTexts, useChartNotes } from '../parts/notes.tsx'
import { Answer, NoSessions, Ready, Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'
import { SESSION_COLUMNS } from '../parts/values.tsx'
import { comparedWith } from './breakdown.ts'

/** Points of the chart at most; months, however many. */
const MAX_POINTS = 62
/** Sessions with at most this score went with much friction. */
const LOW = 50
const LISTED = 10
/** The score stands beside each session in a narrow window too. */
const COLUMNS = SESSION_COLUMNS.map((one) =>
  one.name === 'Quality' ? { ...one, phone: 'main' as const } : one,
)

export function QualityPage({ route: { query }, who }: PageProps) {
  const range = rangeOf(query)
  const project = query.get('project') ?? undefined
  const filters = { project, ...datesOf(query) }
  const granularity = finestGranularity(range, MAX_POINTS)
  const compared = comparedOf(query)
  const overview = useApi<QualityOverview>('/quality', {
    ...{ project, ...datesIn(compared?.now ?? range), compare: comparedWith(compared) },
  })
  const trend = useApi<QualityTrend>('/quality/trend', { ...filters, granularity, include: 'quartiles' })
  const order = { max_quality: LOW, sort: 'quality_score', order: 'asc' }
  const lowest = { ...filters, ...order }
  const low = useApi<Page<SessionListItem>>('/sessions', { ...lowest, include: 'details', per_page: LISTED })
  const notes = useChartNotes(range, { project }, (trend.value?.data.length ?? 0) > 0)
  const shown = useAsked(trend, { range, granularity })
  const periods = periodsOf(shown.range, shown.granularity)
  const lowCount = low.value?.pagination.total
  return (
    <>
      <Bar
        filters={['project']}
        hasAgainst
        csv={{ path: '/sessions', query: { ...lowest, include: 'details' }, name: 'low-quality' }}
      />
      <Ready of={[overview, trend, low]}>
        <Answer
          soft={
            <>
              The mean over sessions of how smoothly each went: errors, rework, interruptions. 100 is best. It
              does not measure the code. The band of the chart holds the middle half of the sessions.
            </>
          }
        >
          {sentenceOf(overview, compared && formatRange(compared.before))}
          {lowCount !== undefined && lowCount > 0 && (
            <>
              ;{' '}
              <a href={linkTo('sessions', { ...keptOf(query), ...order })}>{countOf(lowCount, 'session')}</a>{' '}
              at {LOW} or below
            </>
          )}
        </Answer>
        <Show loaded={trend} what="the trend">
          {({ data }) =>
            data.length === 0 ? (
              <NoSessions />
            ) : (
              <ScoreChart
                title={`Quality by ${shown.granularity}`}
                periods={periods}
                data={data}
                notes={noteTexts(notes, periods, shown.granularity, shown.range)}
              />
            )
          }
        </Show>
        {isAdmin(who) && <NotesForm range={range} scope={{ project }} />}
        <Show loaded={low} what="the lowest sessions">
          {({ data }) =>
            data.length > 0 && (
              <>
                <h2>The lowest scores</h2>
                <Table caption="The lowest scores" rows={data} columns={COLUMNS} isSaved />
              </>
            )
          }
        </Show>
      </Ready>
    </>
  )
}

/** `76.5 of 100, −1.2 points against 1–29 Oct`. */
function sentenceOf(overview: Loaded<QualityOverview>, against: string | undefined): string {
  const value = overview.value
  if (value === undefined || value.total_sessions === 0) return 'No session has a score in these days'
  const { previous: was } = value
  const score = `Sessions have ${formatScore(value.average_score)} of 100 on average`
  if (was === undefined || was.total_sessions === 0 || against === undefined) return score
  const change = formatPoints(value.average_score, was.average_score)
  return `${score}, ${change.startsWith('0.0') ? 'as in' : `${change} compared with`} ${against}`
}
