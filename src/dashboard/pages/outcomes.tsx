import type { Breakdown } from '../../cost/breakdown-model.ts'
import type { Outcome, Outcomes } from '../../outcomes/model.ts'
import { PeriodChart } from '../charts/period-chart.tsx'
import { useApi } from '../client/api.ts'
import type { Range } from '../client/days.ts'
import { formatDollars, formatDollarTick, formatShare, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { type Person, useMembers } from '../client/lists.ts'
import type { PageProps } from '../client/page-props.ts'
import { setQuery } from '../client/router.ts'
import { Fact } from '../parts/fact.tsx'
import { Choice } from '../parts/field.tsx'
import { Filters, rangeOf } from '../parts/filters.tsx'
import { Empty, NoMatch, Show } from '../parts/show.tsx'
import { type Column, Pager, Table } from '../parts/table.tsx'
import { NONE } from './breakdown.ts'

const GROUPS = ['month', 'week', 'project', 'repo', 'member', 'agent'] as const
type Group = (typeof GROUPS)[number]
const NAMES: Record<Group, string> = {
  month: 'Month',
  week: 'Week',
  project: 'Project',
  repo: 'Repository',
  member: 'Member',
  agent: 'Agent',
}
const PER_PAGE = 50
/** The number of tickets shown, those that cost most. */
const TICKETS = 10

/** Shows merged pull requests, their cost, agents' share of the lines and how much of them is left. */
export function OutcomesPage({ route: { query } }: PageProps) {
  const by = GROUPS.find((group) => group === query.get('by')) ?? 'month'
  const range = rangeOf(query)
  const members = useMembers(by === 'member')
  const project = query.get('project') ?? undefined
  const outcomes = useApi<Outcomes>('/outcomes', {
    by,
    project,
    date_from: range.from,
    date_to: range.to,
    page: query.get('page') ?? undefined,
    per_page: PER_PAGE,
  })
  return (
    <>
      <Filters query={query}>
        <Choice
          label="By"
          value={by}
          options={GROUPS.map((group) => [group, NAMES[group]] as const)}
          onChange={(value) => setQuery({ by: value })}
        />
      </Filters>
      <Show loaded={outcomes} what="outcomes">
        {({ data, pagination, total }) =>
          pagination.total === 0 ? (
            <NoMatch page="outcomes" query={query} noun="pull requests, sessions and commits">
              <Empty command="cloud-analytics pr --base main --number 1">
                No pull requests in the last 30 days. A job of CI sends them, with their state:
              </Empty>
            </NoMatch>
          ) : (
            <>
              <Totals total={total} />
              {(by === 'month' || by === 'week') && data.length > 1 && (
                <PeriodChart
                  title={`Cost linked to pull requests, by ${by}`}
                  description={`A bar for each ${by}: US dollars of the sessions that belong to pull requests which were merged, closed or opened in it.`}
                  periods={data.map(({ key }) => key ?? NONE)}
                  series={[{ name: 'Linked cost', values: data.map(({ linked_cost }) => linked_cost) }]}
                  format={formatDollars}
                  formatTick={formatDollarTick}
                />
              )}
              <Table
                caption={`Outcomes by ${by}`}
                columns={columnsOf(by, members)}
                rows={data}
                keyOf={({ key }) => key ?? NONE}
              />
              <Pager pagination={pagination} page="outcomes" query={query} noun={`${by} rows`} />
              <Tickets range={range} project={project} />
              <Definitions />
            </>
          )
        }
      </Show>
    </>
  )
}

interface TicketsProps {
  range: Range
  project: string | undefined
}

/** Shows the cost of each ticket's sessions, the largest first. */
function Tickets({ range, project }: TicketsProps) {
  const tickets = useApi<Breakdown>('/cost/breakdown', {
    by: 'ticket',
    project,
    date_from: range.from,
    date_to: range.to,
    per_page: TICKETS,
  })
  const days = { from: range.from, to: range.to, project }
  return (
    <section>
      <h2>Cost of tickets</h2>
      <Show loaded={tickets} what="the cost of tickets">
        {({ data, pagination }) =>
          data.every(({ key }) => key === null) ? (
            <p class="note">
              No branch or pull request of these days names a ticket. How tickets are written is in the{' '}
              <a href={linkTo('settings', {}, 'organization')}>settings</a>.
            </p>
          ) : (
            <>
              <Table
                caption="Cost of tickets"
                rows={data}
                keyOf={({ key }) => key ?? NONE}
                columns={[
                  {
                    name: 'Ticket',
                    cell: ({ key }) =>
                      key === null ? (
                        'no ticket'
                      ) : (
                        <a href={linkTo('cost', { ...days, ticket: key })}>{key}</a>
                      ),
                  },
                  { name: 'Cost', isNumber: true, cell: ({ cost }) => formatDollars(cost) },
                  { name: 'Share', isNumber: true, cell: ({ share }) => formatShare(share) },
                  { name: 'Sessions', isNumber: true, cell: ({ sessions }) => formatWhole(sessions) },
                ]}
              />
              {pagination.total > TICKETS && (
                <p>
                  <a href={linkTo('cost', { ...days, by: 'ticket' })}>
                    All {formatWhole(pagination.total)} tickets
                  </a>
                </p>
              )}
            </>
          )
        }
      </Show>
    </section>
  )
}

const shareOrDash = (share: number | null) => (share === null ? '–' : formatShare(share))
const dollarsOrDash = (dollars: number | null) => (dollars === null ? '–' : formatDollars(dollars))

function Totals({ total }: { total: Outcomes['total'] }) {
  const facts: [string, string][] = [
    ['Merged', formatWhole(total.pull_requests.merged)],
    ['Cost of a merged pull request', dollarsOrDash(total.cost_per_merged_pull_request)],
    ['Cost linked to a pull request', shareOrDash(total.linked_share)],
    ['Agents’ share of lines', shareOrDash(total.ai_share)],
    ['Still there after 30 days', shareOrDash(total.survival?.['30'].share ?? null)],
  ]
  return (
    <dl class="totals">
      {facts.map(([name, value]) => (
        <Fact key={name} name={name}>
          {value}
        </Fact>
      ))}
    </dl>
  )
}

const columnsOf = (by: Group, members: ReadonlyMap<string | null, Person>): readonly Column<Outcome>[] => [
  {
    name: NAMES[by],
    cell: ({ key }) =>
      key === null ? (
        NONE
      ) : by === 'repo' ? (
        <a href={linkTo('pull-requests', { repo: key })}>
          <bdi>{key}</bdi>
        </a>
      ) : (
        <bdi>{members.get(key)?.name ?? key}</bdi>
      ),
  },
  {
    name: 'Merged',
    isNumber: true,
    cell: ({ pull_requests: { merged } }) => formatWhole(merged),
  },
  {
    name: 'Open / closed',
    isNumber: true,
    cell: ({ pull_requests: { open, closed } }) => `${formatWhole(open)} / ${formatWhole(closed)}`,
  },
  { name: 'Cost', isNumber: true, cell: ({ cost }) => formatDollars(cost) },
  { name: 'Linked cost', isNumber: true, cell: ({ linked_cost }) => formatDollars(linked_cost) },
  {
    name: 'Per merged',
    isNumber: true,
    cell: ({ cost_per_merged_pull_request: cost }) => dollarsOrDash(cost),
  },
  { name: 'Linked', isNumber: true, cell: ({ linked_share }) => shareOrDash(linked_share) },
  {
    name: 'Commits',
    isNumber: true,
    cell: ({ commits }) => (commits === null ? '–' : formatWhole(commits)),
  },
  { name: 'Agents’ lines', isNumber: true, cell: ({ ai_lines }) => formatWhole(ai_lines) },
  { name: 'Share', isNumber: true, cell: ({ ai_share }) => shareOrDash(ai_share) },
  {
    name: 'After 14 d',
    isNumber: true,
    cell: ({ survival }) => shareOrDash(survival?.['14'].share ?? null),
  },
  {
    name: 'After 30 d',
    isNumber: true,
    cell: ({ survival }) => shareOrDash(survival?.['30'].share ?? null),
  },
]

function Definitions() {
  return (
    <details>
      <summary>What these figures say, and what they do not</summary>
      <ul>
        <li>A pull request counts in the period in which it was merged or closed, else opened.</li>
        <li>
          Linked cost is what its sessions cost, whenever they were; a session of several pull requests is
          divided. What is not linked was not lost: not all work ends in a pull request.
        </li>
        <li>Per merged is linked cost ÷ merged pull requests, so that closed ones are paid for too.</li>
        <li>
          Agents’ lines are added lines that a session’s edits wrote: a lower bound. After 14 and 30 days is
          how many of them were still there.
        </li>
        <li>
          This is not a ranking of people: their pull requests differ in size and in who shares the work.
        </li>
      </ul>
    </details>
  )
}
