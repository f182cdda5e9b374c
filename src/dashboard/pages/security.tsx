import type { ListedFinding } from '../../features/security/finding-model.ts'
import type { Heatmap, HeatmapFile, SecurityOverview } from '../../features/security/model.ts'
import { type Loaded, loadedOf, type Page, useApi } from '../client/api.ts'
import { countOf, daysAgo, formatScore, formatWhole } from '../client/format.ts'
import { linkTo, NONE } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { datesOf } from '../client/ranges.ts'
import { setQuery } from '../client/router.ts'
import { Answer, Ready } from '../frame/answer.tsx'
import { Bar } from '../frame/bar.tsx'
import { keptOf } from '../frame/kept.ts'
import { ScoreBar } from '../parts/bar.tsx'
import { Saying, useChanges } from '../parts/change.tsx'
import { textColumn, timeColumn, wholeColumn } from '../parts/columns.tsx'
import { named } from '../parts/field.tsx'
import { pick, QueryChoice, sortingOf } from '../parts/filters.tsx'
import { findingKey, SEVERITIES } from '../parts/findings.tsx'
import { List } from '../parts/list.tsx'
import { Empty, NoMatch, NoSessions } from '../parts/show.tsx'
import type { Column } from '../parts/table.tsx'
import { findingColumns } from './finding-columns.tsx'

const FILTERS = ['project', 'severity', 'assignee', 'member', 'rule_id', 'file'] as const
const STATUSES = ['open', 'fixed', 'accepted', 'dismissed', 'any'] as const
/** Open findings that one request has: with more, files and age are those of the most severe. */
const LISTED = 100

/** Tells what was found, where, since when and who has it; an admin and the assignee say what became of it. */
export function SecurityPage({ route: { query }, who }: PageProps) {
  const changes = useChanges()
  const status = query.get('status') ?? 'open'
  const dates = datesOf(query, 'all')
  const chosen = pick(query, ...FILTERS, 'page')
  const sort = query.get('sort') ?? 'severity'
  const list = { ...chosen, ...dates, status: status === 'any' ? undefined : status, sort, per_page: 25 }
  const findings = useApi<Page<ListedFinding>>('/findings', list, changes.count)
  const kept = { project: chosen.project, ...dates }
  const critical = useApi<Page<ListedFinding>>(
    '/findings',
    {
      ...pick(query, 'project', 'assignee', 'member', 'rule_id', 'file'),
      ...dates,
      status: 'open',
      severity: 'critical',
      per_page: LISTED,
    },
    changes.count,
  )
  const overview = useApi<SecurityOverview>('/security', kept)
  const heatmap = useApi<Heatmap>(
    '/security/heatmap',
    { ...kept, page: query.get('files') ?? undefined, per_page: 10 },
    changes.count,
  )
  // scores and files by risk are known by project and days only
  const isNarrowed = FILTERS.some((name) => name !== 'project' && query.has(name))
  const isLookedAt = loadedOf(overview)?.summary.total_sessions !== 0
  return (
    <>
      <Bar filters={FILTERS} usual="all" csv={{ path: '/findings', query: list, name: 'findings' }}>
        <QueryChoice name="status" label="Status" usual="open" options={named(STATUSES)} />
      </Bar>
      <Ready of={[findings, critical, overview, heatmap]}>
        {() =>
          !isLookedAt ? (
            <>
              <Answer>Nothing was looked at yet</Answer>
              <NoSessions />
            </>
          ) : (
            <>
              {critical.state === 'failed' || critical.value === undefined ? (
                <Answer>Security</Answer>
              ) : (
                <Answer soft={isNarrowed ? SCORES : <Soft overview={overview} heatmap={heatmap} />}>
                  {statusSaid(status, findings)}
                  {sentenceOf(critical.value)}
                </Answer>
              )}
              <Saying said={changes.said} />
              <List
                loaded={findings}
                noun="findings"
                isSaved
                empty={
                  <NoMatch noun="findings">
                    <Empty>
                      No open findings
                      {overview.state !== 'failed' &&
                        overview.value !== undefined &&
                        ` in ${countOf(overview.value.summary.total_sessions, 'session')}`}
                      .
                    </Empty>
                  </NoMatch>
                }
                caption="Findings"
                columns={findingColumns(who, changes)}
                keyOf={findingKey}
                sorting={{
                  ...sortingOf(query, 'severity'),
                  change: (by) => setQuery({ sort: by === 'severity' ? undefined : by }),
                }}
              />
              {!isNarrowed && (
                <>
                  <h2>Files by risk</h2>
                  <List
                    loaded={heatmap}
                    noun="files"
                    name="files"
                    empty={<Empty>No file has open findings in these days.</Empty>}
                    caption="Files by risk"
                    columns={filesColumns({ ...keptOf(query) })}
                    keyOf={({ project, file }) => `${project} ${file}`}
                  />
                </>
              )}
            </>
          )
        }
      </Ready>
    </>
  )
}

/** `3 findings are accepted. ` before what is open, where the list has others. */
function statusSaid(status: string, findings: Loaded<Page<ListedFinding>>): string {
  const total = loadedOf(findings)?.pagination.total
  if (status === 'open' || total === undefined) return ''
  const state = status === 'any' ? 'in all' : `${total === 1 ? 'is' : 'are'} ${status}`
  return `${countOf(total, 'finding')} ${state}. `
}

/** `6 critical findings are open, in 3 files, the oldest 9 days`. */
function sentenceOf({ data, pagination: { total } }: Page<ListedFinding>): string {
  if (total === 0) return 'No critical finding is open'
  const files = new Set(data.flatMap(({ file, project }) => (file === null ? [] : `${project} ${file}`))).size
  const oldest = Math.max(...data.map(({ created_at }) => daysAgo(created_at)))
  const unassigned = data.filter(({ assignee }) => assignee === null).length
  const where = files === 0 ? '' : `, in ${countOf(files, 'file')}`
  const nobody =
    unassigned === 0 ? '' : unassigned === total ? '; nobody has them' : `; nobody has ${unassigned} of them`
  return `${countOf(total, 'critical finding')} ${total === 1 ? 'is' : 'are'} open${where}, the oldest ${countOf(oldest, 'day')}${total === 1 ? nobody.replace('them', 'it') : nobody}`
}

const SCORES =
  'Scores are of single sessions and stay; only open findings count in lists. Secrets themselves are never stored.'

interface SoftProps {
  overview: ReturnType<typeof useApi<SecurityOverview>>
  heatmap: ReturnType<typeof useApi<Heatmap>>
}

function Soft({ overview, heatmap }: SoftProps) {
  const summary = loadedOf(overview)?.summary
  const { summary: files, data: [riskiest] = [] } = loadedOf(heatmap) ?? {}
  return (
    <>
      {summary !== undefined &&
        `${countOf(summary.total_sessions, 'session')} ${summary.total_sessions === 1 ? 'was' : 'were'} looked at; their mean score is ${formatScore(summary.avg_score)} of 100, the lowest ${formatScore(summary.min_score)}. `}
      {files !== undefined &&
        files.files > 0 &&
        `${countOf(files.files, 'file')} ${files.files === 1 ? 'has' : 'have'} open findings, ${formatWhole(files.files_above_threshold)} of them a risk above ${files.threshold}${riskiest === undefined ? '' : `, most ${riskiest.file} (${formatScore(riskiest.risk_score)})`}. `}
      {SCORES}
    </>
  )
}

const filesColumns = (kept: Record<string, string | undefined>): readonly Column<HeatmapFile>[] => [
  {
    name: 'File',
    cell: ({ file, project }) => (
      <a href={linkTo('security', { ...kept, file, project: project ?? NONE })}>
        <code class="path">{file}</code>
      </a>
    ),
  },
  { ...textColumn('Project', 'project'), phone: 'also' },
  {
    name: 'Risk',
    phone: 'main',
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
  { ...timeColumn('Last seen', 'last_seen_at'), phone: 'also' },
]
