import type { Breakdown } from '../../cost/breakdown-model.ts'
import type { Outcome, Outcomes } from '../../outcomes/model.ts'
import { PeriodChart } from '../charts/period-chart.tsx'
import { useApi } from '../client/api.ts'
import { formatDollars, formatShare, formatWhole } from '../client/format.ts'
import { linkTo, NONE } from '../client/links.ts'
import { type Person, useMembers } from '../client/lists.ts'
import type { PageProps } from '../client/page-props.ts'
import { dollarColumn, orUnknown, shareColumn, wholeColumn } from '../parts/columns.tsx'
import { Facts } from '../parts/fact.tsx'
import { datesOf, Filters, pick, QueryChoice, rangeOf } from '../parts/filters.tsx'
import { NamedLink } from '../parts/link.tsx'
import { Empty, NoMatch, Show } from '../parts/show.tsx'
import { type Column, Pager, Table } from '../parts/table.tsx'

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
  const members = useMembers(by === 'member')
  const filters = { ...pick(query, 'project'), ...datesOf(query) }
  const outcomes = useApi<Outcomes>('/outcomes', {
    by,
    ...filters,
    ...pick(query, 'page'),
    per_page: PER_PAGE,
  })
  return (
    <>
      <Filters query={query}>
        <QueryChoice name="by" label="By" query={query} usual="month" options={Object.entries(NAMES)} />
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
              {(by === 'month' || by === 'week') && data.length > 1 && total.linked_cost > 0 && (
                <PeriodChart
                  title={`Cost linked to pull requests, by ${by}`}
                  description={`A bar for each ${by}: US dollars of the sessions that belong to pull requests which were merged, closed or opened in it.`}
                  periods={data.map(({ key }) => key ?? NONE)}
                  series={[{ name: 'Linked cost', values: data.map(({ linked_cost }) => linked_cost) }]}
                />
              )}
              <Table
                caption={`Outcomes by ${by}`}
                columns={columnsOf(by, members)}
                rows={data}
                keyOf={({ key }) => key ?? NONE}
              />
              <Pager pagination={pagination} page="outcomes" query={query} noun={`${by} rows`} />
              <Tickets query={query} />
              <Definitions />
            </>
          )
        }
      </Show>
    </>
  )
}

/** Shows the cost of each ticket's sessions, the largest first. */
function Tickets({ query }: { query: URLSearchParams }) {
  const filters = { ...pick(query, 'project'), ...datesOf(query) }
  const tickets = useApi<Breakdown>('/cost/breakdown', { by: 'ticket', ...filters, per_page: TICKETS })
  const days = { ...pick(query, 'project'), ...rangeOf(query) }
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
                  dollarColumn('Cost', 'cost'),
                  shareColumn('Share', 'share'),
                  wholeColumn('Sessions', 'sessions'),
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

/** Shows what became of the pull requests. */
export const Totals = ({ total }: { total: Outcomes['total'] }) => (
  <Facts
    kind="totals"
    of={[
      ['Merged', formatWhole(total.pull_requests.merged)],
      ['Cost of a merged pull request', orUnknown(total.cost_per_merged_pull_request, formatDollars)],
      ['Cost linked to a pull request', orUnknown(total.linked_share, formatShare)],
      ['Agents’ share of lines', orUnknown(total.ai_share, formatShare)],
      ['Still there after 30 days', orUnknown(total.survival?.['30'].share, formatShare)],
    ]}
  />
)

const columnsOf = (by: Group, members: ReadonlyMap<string | null, Person>): readonly Column<Outcome>[] => [
  {
    name: NAMES[by],
    cell: ({ key }) =>
      key === null ? (
        NONE
      ) : by === 'repo' ? (
        <NamedLink to={linkTo('pull-requests', { repo: key })}>{key}</NamedLink>
      ) : (
        <bdi>{members.get(key)?.name ?? key}</bdi>
      ),
  },
  { name: 'Merged', number: ({ pull_requests: { merged } }) => formatWhole(merged) },
  {
    name: 'Open / closed',
    number: ({ pull_requests: { open, closed } }) => `${formatWhole(open)} / ${formatWhole(closed)}`,
  },
  dollarColumn('Cost', 'cost'),
  dollarColumn('Linked cost', 'linked_cost'),
  dollarColumn('Per merged', 'cost_per_merged_pull_request'),
  shareColumn('Linked', 'linked_share'),
  wholeColumn('Commits', 'commits'),
  wholeColumn('Agents’ lines', 'ai_lines'),
  shareColumn('Share', 'ai_share'),
  ...(['14', '30'] as const).map((days) => ({
    name: `After ${days} d`,
    number: ({ survival }: Outcome) => orUnknown(survival?.[days].share, formatShare),
  })),
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
