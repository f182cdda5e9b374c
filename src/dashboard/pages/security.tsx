import type { Heatmap, HeatmapFile, SecurityOverview } from '../../security/model.ts'
import { useApi } from '../client/api.ts'
import { countOf, formatScore, formatTime, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { Bar } from '../parts/bar.tsx'
import { Fact } from '../parts/fact.tsx'
import { Filters, rangeOf } from '../parts/filters.tsx'
import { Findings } from '../parts/findings.tsx'
import { Empty, Show } from '../parts/show.tsx'
import { type Column, Pager, Table } from '../parts/table.tsx'

const PER_PAGE = 50
const SEVERITIES = ['critical', 'high', 'medium', 'low'] as const

/** Open findings by file, and those of the newest sessions. */
export function SecurityPage({ route: { query } }: PageProps) {
  const range = rangeOf(query)
  const filters = { project: query.get('project') ?? undefined, date_from: range.from, date_to: range.to }
  const overview = useApi<SecurityOverview>('/security', filters)
  const heatmap = useApi<Heatmap>('/security/heatmap', {
    ...filters,
    page: query.get('page') ?? undefined,
    per_page: PER_PAGE,
  })
  return (
    <>
      <Filters query={query} />
      <Show loaded={overview} what="security scores">
        {({ summary }) => (
          <dl class="totals">
            {(['avg_score', 'min_score', 'max_score'] as const).map((name) => (
              <Fact key={name} name={NAMES[name]}>
                {summary.total_sessions === 0 ? '–' : formatScore(summary[name])}
              </Fact>
            ))}
            <Fact name="Sessions">{formatWhole(summary.total_sessions)}</Fact>
          </dl>
        )}
      </Show>
      <h2>Files by risk</h2>
      <Show loaded={heatmap} what="the heatmap">
        {({ data, pagination, summary }) =>
          pagination.total === 0 ? (
            <Empty>No open findings in these days.</Empty>
          ) : (
            <>
              <p class="note">
                {countOf(summary.files, 'file')}, mean risk {formatScore(summary.average_risk)},{' '}
                {formatWhole(summary.files_above_threshold)} above {summary.threshold}
              </p>
              <Table
                caption="Files by risk"
                columns={COLUMNS}
                rows={data}
                keyOf={({ project, file }) => `${project} ${file}`}
              />
              <Pager pagination={pagination} page="security" query={query} noun="files" />
            </>
          )
        }
      </Show>
      <h2>Newest sessions</h2>
      <Show loaded={overview} what="the newest sessions">
        {({ recent_sessions }) => (
          <>
            {recent_sessions.length === 0 && <p class="note">There are none in these days.</p>}
            {recent_sessions.length > 0 &&
              recent_sessions.every(({ security_metadata }) => security_metadata.findings.length === 0) && (
                <p class="note">
                  The {countOf(recent_sessions.length, 'newest session')} of these days have no findings.
                </p>
              )}
            {recent_sessions
              .filter(({ security_metadata }) => security_metadata.findings.length > 0)
              .map(({ id, project, created_at, security_metadata }) => (
                <details key={id}>
                  <summary>
                    {formatTime(created_at)} <bdi>{project}</bdi>: score{' '}
                    {formatScore(security_metadata.score)},{' '}
                    {countOf(security_metadata.findings.length, 'finding')}
                  </summary>
                  <p>
                    <a href={linkTo('sessions', {}, id)}>
                      <code>{id}</code>
                    </a>
                  </p>
                  <Findings findings={security_metadata.findings} />
                </details>
              ))}
          </>
        )}
      </Show>
    </>
  )
}

const NAMES = { avg_score: 'Mean score', min_score: 'Lowest', max_score: 'Highest' } as const

const COLUMNS: readonly Column<HeatmapFile>[] = [
  {
    name: 'File',
    cell: ({ file, project }) => (
      <a href={linkTo('findings', { file, project })}>
        <code>{file}</code>
      </a>
    ),
  },
  { name: 'Project', cell: ({ project }) => <bdi>{project}</bdi> },
  {
    name: 'Risk',
    isNumber: true,
    cell: ({ risk_score }) => (
      <>
        {formatScore(risk_score)} <Bar fraction={risk_score / 100} kind={risk_score > 50 ? 'bad' : 'fair'} />
      </>
    ),
  },
  ...SEVERITIES.map(
    (severity): Column<HeatmapFile> => ({
      name: severity,
      isNumber: true,
      cell: ({ findings }) => (
        <span class={`heat ${findings[severity] > 0 ? severity : ''}`}>{findings[severity]}</span>
      ),
    }),
  ),
  { name: 'Sessions', isNumber: true, cell: ({ sessions }) => formatWhole(sessions) },
  { name: 'Last seen (UTC)', cell: ({ last_seen_at }) => formatTime(last_seen_at) },
]
