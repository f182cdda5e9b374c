import type { SessionListItem } from '../../sessions/model.ts'
import { pathOf, useApi } from '../client/api.ts'
import { syncCommand } from '../client/base.ts'
import { formatDollars, formatNumber, formatTime, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { setQuery } from '../client/router.ts'
import { Bar, goodness } from '../parts/bar.tsx'
import { Csv } from '../parts/csv.tsx'
import { Choice, Field } from '../parts/field.tsx'
import { Chooser, Filters, rangeOf } from '../parts/filters.tsx'
import { Empty, NoMatch, Show } from '../parts/show.tsx'
import { type Column, Pager, Table } from '../parts/table.tsx'
import { SessionPage } from './session.tsx'

interface SessionList {
  data: SessionListItem[]
  pagination: { page: number; per_page: number; total: number }
}

const PER_PAGE = 50
/** Filters of the list that are the same in the page's URL. */
const FILTERS = [
  'project',
  'member',
  'model',
  'agent',
  'branch',
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

function ListPage({ route: { query } }: PageProps) {
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
  const sessions = useApi<SessionList>('/sessions', list)
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
        <Chooser name="model" label="Model" path="/models" query={query} />
        <Chooser name="agent" label="Agent" path="/agents" query={query} />
        {field('member', 'Member')}
        {field('branch', 'Branch')}
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
              <Table
                caption="Sessions"
                columns={COLUMNS}
                rows={data}
                keyOf={({ id }) => id}
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

const COLUMNS: readonly Column<SessionListItem>[] = [
  {
    name: 'Began (UTC)',
    sort: 'created_at',
    cell: ({ id, created_at }) => <a href={linkTo('sessions', {}, id)}>{formatTime(created_at)}</a>,
  },
  { name: 'Project', cell: ({ project_name }) => <bdi>{project_name}</bdi> },
  { name: 'Turns', sort: 'turns', isNumber: true, cell: ({ turns }) => formatWhole(turns) },
  {
    name: 'Cost',
    sort: 'estimated_cost',
    isNumber: true,
    cell: ({ estimated_cost }) => formatDollars(estimated_cost),
  },
  {
    name: 'Quality',
    isNumber: true,
    cell: ({ quality_score }) => (
      <>
        {formatNumber(quality_score)} <Bar fraction={quality_score / 100} kind={goodness(quality_score)} />
      </>
    ),
  },
  { name: 'Session', cell: ({ id }) => <code>{id}</code> },
]
