import type { Heatmap, HeatmapFile, SecurityOverview } from '../../features/security/model.ts'
import { useApi } from '../client/api.ts'
import { countOf, formatScore, formatWhole } from '../client/format.ts'
import { linkTo, NONE } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { ScoreBar } from '../parts/bar.tsx'
import { textColumn, timeColumn, UNKNOWN, wholeColumn } from '../parts/columns.tsx'
import { Facts } from '../parts/fact.tsx'
import { datesOf, Filters, pick } from '../parts/filters.tsx'
import { Findings, SEVERITIES } from '../parts/findings.tsx'
import { List } from '../parts/list.tsx'
import { Empty, Show } from '../parts/show.tsx'
import type { Column } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'

/** Open findings by file, and those of the newest sessions. */
export function SecurityPage({ route: { query } }: PageProps) {
  const filters = { ...pick(query, 'project'), ...datesOf(query) }
  const overview = useApi<SecurityOverview>('/security', filters)
  const heatmap = useApi<Heatmap>('/security/heatmap', { ...filters, ...pick(query, 'page') })
  return (
    <>
      <Filters />
      <Show loaded={overview} what="security scores">
        {({ summary }) => {
          const score = (value: number) => (summary.total_sessions === 0 ? UNKNOWN : formatScore(value))
          return (
            <Facts
              kind="totals"
              of={[
                ['Mean score', score(summary.avg_score)],
                ['Lowest', score(summary.min_score)],
                ['Highest', score(summary.max_score)],
                ['Sessions', formatWhole(summary.total_sessions)],
              ]}
            />
          )
        }}
      </Show>
      <h2>Files by risk</h2>
      {heatmap.state === 'ready' && heatmap.value.pagination.total > 0 && (
        <p class="note">
          {countOf(heatmap.value.summary.files, 'file')}, mean risk{' '}
          {formatScore(heatmap.value.summary.average_risk)},{' '}
          {formatWhole(heatmap.value.summary.files_above_threshold)} above {heatmap.value.summary.threshold}
        </p>
      )}
      <List
        loaded={heatmap}
        noun="files"
        empty={<Empty>No open findings in these days.</Empty>}
        caption="Files by risk"
        columns={COLUMNS}
        keyOf={({ project, file }) => `${project} ${file}`}
      />
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
                    <Time at={created_at} /> <bdi>{project ?? NONE}</bdi>: score{' '}
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

const COLUMNS: readonly Column<HeatmapFile>[] = [
  {
    name: 'File',
    cell: ({ file, project }) => (
      <a href={linkTo('findings', { file, project: project ?? NONE })}>
        <code>{file}</code>
      </a>
    ),
  },
  textColumn('Project', 'project'),
  {
    name: 'Risk',
    number: ({ risk_score }) => <ScoreBar score={risk_score} kind={risk_score > 50 ? 'bad' : 'fair'} />,
  },
  ...SEVERITIES.map(
    (severity): Column<HeatmapFile> => ({
      name: severity,
      number: ({ findings }) => (
        <span class={`heat ${findings[severity] > 0 ? severity : ''}`}>{findings[severity]}</span>
      ),
    }),
  ),
  wholeColumn('Sessions', 'sessions'),
  timeColumn('Last seen', 'last_seen_at'),
]
