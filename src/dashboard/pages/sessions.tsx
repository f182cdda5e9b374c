import { useEffect, useState } from 'preact/hooks'
import type { SessionDetail, SessionListItem } from '../../sessions/model.ts'
import { getJson, type Page, pathOf, useApi } from '../client/api.ts'
import { syncCommand } from '../client/base.ts'
import { formatDollars, formatScore, formatTime, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { useMembers } from '../client/lists.ts'
import type { PageProps } from '../client/page-props.ts'
import { setQuery } from '../client/router.ts'
import { Bar, goodness } from '../parts/bar.tsx'
import { ColumnChooser, useColumns } from '../parts/columns.tsx'
import { Csv } from '../parts/csv.tsx'
import { Choice, Field } from '../parts/field.tsx'
import { Chooser, Filters, rangeOf } from '../parts/filters.tsx'
import { Empty, NoMatch, Show } from '../parts/show.tsx'
import { type Column, Pager, type Sorting, Table } from '../parts/table.tsx'
import { SessionPage } from './session.tsx'

const PER_PAGE = 25
/** Filters of the list that are the same in the page's URL. */
const FILTERS = [
  'project',
  'member',
  'model',
  'agent',
  'branch',
  'ticket',
  'min_cost',
  'max_cost',
  'min_quality',
  'max_quality',
  'has_findings',
] as const

const FINDINGS = [
  ['', 'with or without'],
  ['true', 'with'],
  ['false', 'without'],
] as const

/** The list, or one of its sessions when the URL names it. */
export function SessionsPage(props: PageProps) {
  return props.route.id === undefined ? <ListPage {...props} /> : <SessionPage id={props.route.id} />
}

function ListPage({ route: { query }, who }: PageProps) {
  const range = rangeOf(query)
  const sort = query.get('sort') ?? 'created_at'
  const order = query.get('order') ?? 'desc'
  const list = {
    ...Object.fromEntries(FILTERS.map((name) => [name, query.get(name) ?? undefined])),
    date_from: range.from,
    date_to: range.to,
    sort,
    order,
    page: query.get('page') ?? undefined,
    per_page: PER_PAGE,
  }
  const sessions = useApi<Page<SessionListItem>>('/sessions', list)
  const field = (name: string, label: string, isNumber = false) => (
    <Field
      label={label}
      value={query.get(name) ?? ''}
      isNumber={isNumber}
      min={0}
      onChange={(value) => setQuery({ [name]: value })}
    />
  )
  return (
    <>
      <Filters query={query}>
        <Chooser name="member" label="Member" query={query} />
        <Chooser name="model" label="Model" query={query} />
        <Chooser name="agent" label="Agent" query={query} />
        <Chooser name="branch" label="Branch" query={query} />
        {query.has('ticket') && field('ticket', 'Ticket')}
        {field('min_cost', 'Cost from', true)}
        {field('max_cost', 'Cost to', true)}
        {field('min_quality', 'Quality from', true)}
        {field('max_quality', 'Quality to', true)}
        <Choice
          label="Findings"
          value={query.get('has_findings') ?? ''}
          options={FINDINGS}
          onChange={(value) => setQuery({ has_findings: value })}
        />
      </Filters>
      <Show loaded={sessions} what="sessions">
        {({ data, pagination }) =>
          pagination.total === 0 ? (
            <NoMatch page="sessions" query={query} noun="sessions">
              <Empty command={syncCommand()}>
                No sessions in the last 30 days. To send those that coding agents left on a disk:
              </Empty>
            </NoMatch>
          ) : (
            <>
              <SessionTable
                sessions={data}
                who={who}
                sorting={{
                  by: sort,
                  order,
                  change: (next, direction) => setQuery({ sort: next, order: direction }),
                }}
              />
              <Pager pagination={pagination} page="sessions" query={query} noun="sessions" />
              <Csv path={pathOf('/sessions', list)} name="sessions" />
            </>
          )
        }
      </Show>
    </>
  )
}

/** Only the session itself has these fields, not the list. */
type Origin = Pick<SessionDetail, 'user_id' | 'source' | 'models' | 'branch'>

/** Time after which rows that came into view are still there, and the page has loaded. */
const IDLE_MS = 300

/**
 * Asks for the sessions whose rows are in view, one after another, once nothing else is loaded. Of those that could not be
 * read nothing is known.
 */
function useOrigins(sessions: readonly SessionListItem[], isNeeded: boolean): ReadonlyMap<string, Origin> {
  const [origins, setOrigins] = useState<ReadonlyMap<string, Origin>>(new Map())
  const key = isNeeded ? sessions.map(({ id }) => id).join(' ') : ''
  useEffect(() => {
    if (key === '') return
    const controller = new AbortController()
    const waiting = new Set<string>()
    const work = async (): Promise<void> => {
      for (const id of waiting) {
        waiting.delete(id)
        const path = `/sessions/${encodeURIComponent(id)}`
        const session = await getJson<SessionDetail>(path, { signal: controller.signal })
        setOrigins((before) => new Map([...before, [id, session]]))
      }
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const id = (target as HTMLElement).dataset.key ?? ''
        if (isIntersecting && !origins.has(id)) waiting.add(id)
        else waiting.delete(id)
      }
      clearTimeout(timer)
      timer = setTimeout(() => void work().catch(() => undefined), IDLE_MS)
    })
    for (const row of document.querySelectorAll('tr[data-key]')) observer.observe(row)
    return () => {
      observer.disconnect()
      clearTimeout(timer)
      controller.abort()
    }
  }, [key])
  return origins
}

/** Requests a minute of which the rows in view may be asked for without that somebody chose their columns. */
const ENOUGH = 500
const LISTED = ['Project', 'Turns', 'Cost', 'Quality']
const ORIGIN = ['Member', 'Agent', 'Models', 'Branch']

interface SessionTableProps {
  sessions: readonly SessionListItem[]
  sorting: Sorting
  who: PageProps['who']
}

function SessionTable({ sessions, sorting, who }: SessionTableProps) {
  const usual = who.limits.read < ENOUGH ? LISTED : ['Member', 'Agent', 'Models', ...LISTED]
  const { chosen, choose } = useColumns('sessions', usual)
  const needsOrigins = ORIGIN.some((name) => chosen.includes(name))
  const origins = useOrigins(sessions, needsOrigins)
  const members = useMembers(chosen.includes('Member'))
  const origin = (name: string, pick: (origin: Origin) => string | null): Column<SessionListItem> => ({
    name,
    cell: ({ id }) => {
      const known = origins.get(id)
      return known === undefined ? '…' : <bdi>{pick(known) ?? '–'}</bdi>
    },
  })
  const columns: readonly Column<SessionListItem>[] = [
    FIRST,
    origin('Member', ({ user_id }) => (user_id === null ? null : (members.get(user_id)?.name ?? user_id))),
    origin('Agent', ({ source }) => source),
    origin('Models', ({ models }) => models.join(', ')),
    origin('Branch', ({ branch }) => branch),
    ...COLUMNS,
  ]
  return (
    <>
      <ColumnChooser names={columns.slice(1).map(({ name }) => name)} chosen={chosen} choose={choose} />
      <Table
        caption="Sessions"
        columns={columns.filter((column) => column === FIRST || chosen.includes(column.name))}
        rows={sessions}
        keyOf={({ id }) => id}
        sorting={sorting}
      />
    </>
  )
}

const FIRST: Column<SessionListItem> = {
  name: 'Began (UTC)',
  sort: 'created_at',
  cell: ({ id, created_at }) => <a href={linkTo('sessions', {}, id)}>{formatTime(created_at)}</a>,
}
const COLUMNS: readonly Column<SessionListItem>[] = [
  { name: 'Project', cell: ({ project_name }) => <bdi>{project_name ?? '–'}</bdi> },
  { name: 'Turns', sort: 'turns', isNumber: true, cell: ({ turns }) => formatWhole(turns) },
  {
    name: 'Cost',
    sort: 'estimated_cost',
    isNumber: true,
    cell: ({ estimated_cost }) => formatDollars(estimated_cost),
  },
  {
    name: 'Quality',
    sort: 'quality_score',
    isNumber: true,
    cell: ({ quality_score }) => (
      <>
        {formatScore(quality_score)} <Bar fraction={quality_score / 100} kind={goodness(quality_score)} />
      </>
    ),
  },
  { name: 'Id', cell: ({ id }) => <code>{id}</code> },
]
