// The page `Security`: what was found, where, since when and who has it; an admin and the assignee say what became of it.

import type { FindingPage, ListedFinding } from '../../features/security/finding-model.ts'
import type { Heatmap, HeatmapFile, SecurityOverview } from '../../features/security/model.ts'
import { getJson, type Loaded, type Page, pathOf, useApi, useLoaded } from '../client/api.ts'
import { rangeBefore, wholeDays } from '../client/days.ts'
import { countOf, formatScore, formatWhole, inRange } from '../client/format.ts'
import { keptOf, linkTo, NONE, type PageProps } from '../client/links.ts'
import { comparedOf, datesOf, rangeKeyOf, rangeOf } from '../client/ranges.ts'
import { linkHere, setQuery, useHere } from '../client/router.ts'
import { Bar } from '../frame/bar.tsx'
import { named, pick, QueryChoice } from '../parts/fields.tsx'
import { findingKey, SEVERITIES } from '../parts/findings.tsx'
import { Saying, useChanges } from '../parts/form.tsx'
import { List } from '../parts/list.tsx'
import { Answer, Empty, NoSessions, Ready } from '../parts/show.tsx'
import { type Column, sortingOf } from '../parts/table.tsx'
import { Path, ScoreBar, textColumn, timeColumn, wholeColumn } from '../parts/values.tsx'
import { findingColumns } from './finding-columns.tsx'
import { criticalSaid, findingsSaid, foundSaid, statusSaid } from './security-words.ts'

const FILTERS = ['project', 'severity', 'assignee', 'member', 'rule_id', 'file'] as const
const STATUSES = ['open', 'fixed', 'accepted', 'dismissed', 'any'] as const
/** Open findings that one request has: with more, files and age are those of the most severe. */
const LISTED = 100
/** Without a chosen range these whole days are compared with as many before. */
const DAYS = 30
/** A narrower window has the list first. */
const WIDE = 700
/** The names of categories. */
const CATEGORIES: Readonly<Record<string, string>> = {
  ...{ secret: 'secret', command: 'dangerous command', file: 'risky file', mode: 'risky mode' },
}

export function SecurityPage({ route: { query }, who }: PageProps) {
  const changes = useChanges()
  const status = query.get('status') ?? 'open'
  const dates = datesOf(query, 'all')
  const chosen = pick(query, ...FILTERS, 'page')
  const sort = query.get('sort') ?? 'severity'
  const list = { ...chosen, ...dates, status: status === 'any' ? undefined : status, sort, per_page: 25 }
  const findings = useApi<FindingPage>('/findings', { ...list, include: 'counts' }, changes.count)
  const kept = { project: chosen.project, ...dates }
  const critical = useApi<Page<ListedFinding>>(
    '/findings',
    { ...pick(query, ...FILTERS), ...dates, status: 'open', severity: 'critical', per_page: LISTED },
    changes.count,
  )
  const overview = useApi<SecurityOverview>('/security', kept)
  const isAll = rangeKeyOf(query, 'all') === 'all'
  const days = isAll
    ? { now: wholeDays(DAYS), before: rangeBefore(wholeDays(DAYS)) }
    : comparedOf(query, 'all')
  const change = useLoaded(JSON.stringify([days, chosen.project]), async (signal) => {
    if (days === undefined) return undefined
    const { now, before } = days
    const dates = { date_from: now.from, date_to: now.to, compare: `${before.from}..${before.to}` }
    const path = pathOf('/security', { project: chosen.project, ...dates })
    return foundSaid(await getJson<SecurityOverview>(path, { signal }), days)
  })
  const heatmap = useApi<Heatmap>(
    '/security/heatmap',
    { ...kept, page: query.get('files') ?? undefined, per_page: 10 },
    changes.count,
  )
  // scores and files by risk are known by project and days only
  const isNarrowed = FILTERS.some((name) => name !== 'project' && query.has(name))
  const isLookedAt = overview.value?.summary.total_sessions !== 0
  return (
    <>
      <Bar filters={FILTERS} usual="all" csv={{ path: '/findings', query: list, name: 'findings' }}>
        <QueryChoice name="status" label="Status" usual="open" options={named(STATUSES)} />
      </Bar>
      <Ready of={[findings, critical, overview, change, heatmap]}>
        {!isLookedAt ? (
          <>
            <Answer>Nothing was looked at yet</Answer>
            <NoSessions />
          </>
        ) : (
          <>
            {critical.value === undefined ? (
              <Answer>Security</Answer>
            ) : (
              <>
                <Answer soft={!isNarrowed && change.value}>
                  {statusSaid(status, findings)}
                  {findingsSaid(
                    critical.value,
                    isAll ? '' : ` that came up ${inRange(rangeOf(query, 'all'))}`,
                  )}
                  .
                </Answer>
                {(findings.value?.pagination.total ?? 0) > 0 && (
                  <details class="soft" open={innerWidth >= WIDE}>
                    <summary>Which, where, since when, and in whose sessions</summary>
                    {criticalSaid(critical.value)}
                    <Most findings={findings} />
                  </details>
                )}
              </>
            )}
            <Saying said={changes.said} />
            <List
              loaded={findings}
              noun="findings"
              isSaved
              empty={
                <Empty>
                  No open findings
                  {overview.value && ` in ${countOf(overview.value.summary.total_sessions, 'session')}`}.
                </Empty>
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
                <p class="note">
                  <Soft overview={overview} heatmap={heatmap} />
                </p>
                <List
                  loaded={heatmap}
                  noun="files"
                  name="files"
                  empty={<Empty>No file has open findings in these days.</Empty>}
                  caption="Files by risk"
                  columns={filesColumns(keptOf(query))}
                  keyOf={({ project, file }) => `${project} ${file}`}
                />
              </>
            )}
          </>
        )}
      </Ready>
    </>
  )
}

/** Says how severe the listed findings are, and of each kind which project and member have most, with the way to them. */
function Most({ findings }: { findings: Loaded<FindingPage> }) {
  const here = useHere()
  const { counts, pagination: { total } = { total: 0 } } = findings.value ?? {}
  if (counts === undefined || total < 2) return null
  const severities = SEVERITIES.filter((one) => counts.severity[one] > 0)
  /** Names those with most: all of them where several have as many. */
  const leaders = (name: 'project' | 'member', rows: readonly { value: string; findings: number }[]) => {
    const most = rows.filter(({ findings }) => findings === rows[0]?.findings)
    return (
      <>
        {most.map(({ value }, at) => (
          <>
            {at > 0 && (at === most.length - 1 ? ' and ' : ', ')}
            <a href={linkHere(here, { [name]: value, page: undefined })}>
              <bdi>{value}</bdi>
            </a>
          </>
        ))}
        {` (${formatWhole(most[0]?.findings ?? 0)}${most.length > 1 ? ' each' : ''})`}
      </>
    )
  }
  return (
    <>
      Of {countOf(total, 'finding')} {severities.map((one) => `${counts.severity[one]} ${one}`).join(', ')}.{' '}
      {counts.category.map(({ key, findings, project, member }) => {
        const people = member.flatMap(({ key: person, findings }) => {
          const value = person?.email ?? person?.id ?? ''
          return value === '' ? [] : [{ value, findings }]
        })
        // a filter by a project or member leaves no other one
        const projects = here.query.has('project')
          ? []
          : project.map((one) => ({ value: one.key ?? NONE, findings: one.findings }))
        const isAllOf = (rows: typeof people) => (rows[0]?.findings === findings ? 'all' : 'most')
        return (
          <>
            {countOf(findings, CATEGORIES[key] ?? key)}
            {projects.length > 0 && (
              <>
                , {isAllOf(projects)} in {leaders('project', projects)}
              </>
            )}
            {people.length > 0 && !here.query.has('member') && (
              <>
                , {isAllOf(people)} in sessions of {leaders('member', people)}
              </>
            )}
            .{' '}
          </>
        )
      })}
    </>
  )
}

const SCORES =
  'Scores are of single sessions and stay; only open findings count in lists. Secrets themselves are never stored.'

interface SoftProps {
  overview: ReturnType<typeof useApi<SecurityOverview>>
  heatmap: ReturnType<typeof useApi<Heatmap>>
}

function Soft({ overview, heatmap }: SoftProps) {
  const summary = overview.value?.summary
  const { summary: files, data: [riskiest] = [] } = heatmap.value ?? {}
  return (
    <>
      {summary !== undefined &&
        `${countOf(summary.total_sessions, 'session')} ${summary.total_sessions === 1 ? 'was' : 'were'} looked at; their mean score is ${formatScore(summary.avg_score)} of 100, the lowest ${formatScore(summary.min_score)}. `}
      {files !== undefined &&
        files.files > 0 &&
        `What was found several times in a file counts once. ${countOf(files.files, 'file')} ${files.files === 1 ? 'has' : 'have'} open findings, ${files.files_above_threshold === 0 ? 'none' : formatWhole(files.files_above_threshold)} of them a risk above ${files.threshold}${riskiest === undefined ? '' : `, most ${riskiest.file} (${formatScore(riskiest.risk_score)})`}. `}
      {SCORES}
    </>
  )
}

const filesColumns = (kept: Record<string, string | undefined>): readonly Column<HeatmapFile>[] => [
  {
    name: 'File',
    cell: ({ file, project }) => (
      <a href={linkTo('security', { ...kept, file, project: project ?? NONE })}>
        <Path of={file} />
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
