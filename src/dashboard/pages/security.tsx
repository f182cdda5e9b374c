import type { ListedFinding } from '../../features/security/finding-model.ts'
import type { Heatmap, HeatmapFile, SecurityOverview } from '../../features/security/model.ts'
import { type Loaded, type Page, useApi } from '../client/api.ts'
import { countOf, formatScore, formatWhole } from '../client/format.ts'
import { linkTo, NONE } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { ScoreBar } from '../parts/bar.tsx'
import { textColumn, timeColumn, UNKNOWN, wholeColumn } from '../parts/columns.tsx'
import { Facts } from '../parts/fact.tsx'
import { datesOf, Filters, pick } from '../parts/filters.tsx'
import { Findings, NothingLookedAt, SEVERITIES } from '../parts/findings.tsx'
import { List } from '../parts/list.tsx'
import { Empty, Show } from '../parts/show.tsx'
import type { Column } from '../parts/table.tsx'
import { Time } from '../parts/time.tsx'

/** Open findings by file, and those of the newest sessions. */
export function SecurityPage({ route: { query } }: PageProps) {
  const kept = pick(query, 'project', 'from', 'to')
  const filters = { project: kept.project, ...datesOf(query) }
  const overview = useApi<SecurityOverview>('/security', filters)
  const open = { ...filters, status: 'open', per_page: 1 }
  const found = useApi<Page<ListedFinding>>('/findings', open)
  const critical = useApi<Page<ListedFinding>>('/findings', { ...open, severity: 'critical' })
  const countIn = (loaded: Loaded<Page<ListedFinding>>) =>
    loaded.state === 'failed' ? undefined : loaded.value?.pagination.total
  const openLink = (count: number | undefined, severity?: string) =>
    count === undefined ? (
      UNKNOWN
    ) : (
      <a
        class={severity !== undefined && count > 0 ? 'bad' : ''}
        href={linkTo('findings', { ...kept, severity })}
      >
        {formatWhole(count)}
      </a>
    )
  const heatmap = useApi<Heatmap>('/security/heatmap', { ...filters, ...pick(query, 'page') })
  return (
    <>
      <Filters />
      <Show loaded={overview} what="security scores">
        {({ summary }) =>
          summary.total_sessions === 0 ? (
            <NothingLookedAt />
          ) : (
            <>
              <Facts
                kind="totals"
                of={[
                  ['Open critical findings', openLink(countIn(critical), 'critical')],
                  ['Open findings', openLink(countIn(found))],
                  ['Mean score of a session', formatScore(summary.avg_score)],
                  ['Lowest', formatScore(summary.min_score)],
                  ['Highest', formatScore(summary.max_score)],
                  ['Sessions', formatWhole(summary.total_sessions)],
                ]}
              />
              <p class="note">
                Scores are of single sessions, 100 without findings: their mean does not say what is open.
              </p>
            </>
          )
        }
      </Show>
      {overview.state !== 'failed' && overview.value?.summary.total_sessions !== 0 && (
        <Looked overview={overview} heatmap={heatmap} />
      )}
    </>
  )
}

/** Shows what was found in the sessions, where there are some. */
function Looked({ overview, heatmap }: { overview: Loaded<SecurityOverview>; heatmap: Loaded<Heatmap> }) {
  return (
    <>
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
        empty={<Empty>No file has open findings in these days.</Empty>}
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
