// The page `Outcomes`: merged pull requests, their cost, agents' lines and what is left of them, cost of tickets.

import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import { saidPerMerged } from '../../features/outcomes/cost-per-merged.ts'
import type { Outcome, Outcomes } from '../../features/outcomes/model.ts'
import { PeriodChart } from '../charts/period-chart.tsx'
import { type Loaded, useApi, useAsked } from '../client/api.ts'
import { datesIn, openPeriod } from '../client/days.ts'
import {
  capital,
  countOf,
  formatCompact,
  formatDay,
  formatDollars,
  formatMonth,
  formatShare,
  formatWhole,
  inRange,
  pluralOf,
} from '../client/format.ts'
import { linkTo, NONE, type PageProps, type Query } from '../client/links.ts'
import { type People, useMembers } from '../client/lists.ts'
import { comparedOf, rangeOf } from '../client/ranges.ts'
import { Bar } from '../frame/bar.tsx'
import { pick, QueryChoice } from '../parts/fields.tsx'
import { Answer, Empty, Facts, NoMatch, Ready, Show } from '../parts/show.tsx'
import { type Column, Pager, Table } from '../parts/table.tsx'
import { dollarColumn, NamedLink, orUnknown, shareColumn, wholeColumn } from '../parts/values.tsx'

const GROUPS = ['month', 'week', 'project', 'repo', 'member', 'team', 'agent'] as const
type Group = (typeof GROUPS)[number]
const groupTitle = (group: Group) => (group === 'repo' ? 'Repository' : capital(group))
const OPTIONS = GROUPS.map((group) => [group, groupTitle(group)] as const)
/** The number of tickets shown, those that cost most. */
const TICKETS = 10

export function OutcomesPage({ route: { query } }: PageProps) {
  const group = GROUPS.find((group) => group === query.get('by')) ?? 'week'
  const range = rangeOf(query)
  const chosen = pick(query, 'project', 'team')
  const filters = { ...chosen, ...datesIn(range) }
  const outcomes = useApi<Outcomes>('/outcomes', { by: group, ...filters, ...pick(query, 'page') })
  const compared = comparedOf(query)
  const before = useApi<Outcomes>('/outcomes', {
    ...{ ...chosen, ...datesIn(compared?.before ?? range), per_page: 1 },
  })
  const tickets = useApi<Breakdown>('/cost/breakdown', {
    ...{ by: 'ticket', project: chosen.project, ...datesIn(range), per_page: TICKETS },
  })
  const by = useAsked(outcomes, group)
  const members = useMembers(group === 'member' || by === 'member')
  return (
    <>
      <Bar filters={['project', 'team']} hasAgainst>
        <QueryChoice name="by" label="By" usual="week" options={OPTIONS} />
      </Bar>
      <Ready of={[outcomes, before, tickets]}>
        <Show loaded={outcomes} what="outcomes">
          {({ data, pagination, total }) => (
            <>
              <Answer soft={<SoftOutcomes total={total} />}>
                {saidMerged(total, inRange(range), before.value?.total, compared && inRange(compared.before))}
              </Answer>
              {pagination.total === 0 ? (
                <NoMatch noun="pull requests, sessions and commits">
                  <Empty command="cloud-analytics pr --base main --number 1">
                    No pull requests, sessions or commits in these days. A job of CI sends them, with their
                    state:
                  </Empty>
                </NoMatch>
              ) : (
                <>
                  {(by === 'month' || by === 'week') && data.length > 1 && <Charts by={by} data={data} />}
                  <Table
                    caption={`Outcomes by ${by}`}
                    columns={outcomeColumns(by, members)}
                    rows={data}
                    keyOf={({ key }) => key ?? NONE}
                    total={{ ...total, key: null }}
                  />
                  <Pager pagination={pagination} noun={pluralOf(by)} />
                  <Tickets loaded={tickets} days={{ project: chosen.project, ...range }} />
                  <Definitions />
                </>
              )}
            </>
          )}
        </Show>
      </Ready>
    </>
  )
}

/** Costs of the group's own sessions that are linked; `linked_cost` is also of other sessions. */
const linkedOf = ({ cost, linked_share }: Outcome) => cost * (linked_share ?? 0)

/** Agents' lines beside the others, and the cost that is linked to pull requests beside the rest. */
function Charts({ by, data }: { by: Group; data: readonly Outcome[] }) {
  const shared = {
    ...{ periods: data.map(({ key }) => key ?? NONE), of: groupTitle(by) },
    unfinished: openPeriod(by === 'week' ? by : 'month'),
  }
  return (
    <div class="answers">
      {data.some(({ effective_lines, ai_lines }) => (effective_lines ?? ai_lines) > 0) && (
        <PeriodChart
          {...shared}
          title={`Lines by ${by}`}
          description={`A bar for each ${by}: added lines of commits, those that agents wrote below the others.`}
          series={[
            { name: 'Agents’ lines', values: data.map(({ ai_lines }) => ai_lines) },
            {
              ...{ name: 'Other lines', isRest: true },
              values: data.map(({ effective_lines, ai_lines }) => (effective_lines ?? ai_lines) - ai_lines),
            },
          ]}
          format={formatWhole}
          formatTick={formatCompact}
        />
      )}
      <PeriodChart
        {...shared}
        title={`Cost by ${by}`}
        description={`A bar for each ${by}: US dollars of its sessions, those that belong to any pull request below the others.`}
        series={[
          { name: 'Linked to pull requests', values: data.map(linkedOf) },
          {
            ...{ name: 'Other cost', isRest: true },
            values: data.map((one) => one.cost - linkedOf(one)),
          },
        ]}
      />
    </div>
  )
}

/** Shows the cost of each ticket's sessions, the largest first. */
function Tickets({ loaded, days }: { loaded: Loaded<Breakdown>; days: Query }) {
  return (
    <section>
      <h2>Cost of tickets</h2>
      <Show loaded={loaded} what="the cost of tickets">
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

/** `34 pull requests were merged in November, 4 more than in October, for $12.40 each`. */
export function saidMerged(
  total: Outcomes['total'],
  range: string,
  before?: Outcomes['total'],
  against?: string,
): string {
  const { merged } = total.pull_requests
  const first = `${merged === 0 ? 'No pull request' : countOf(merged, 'pull request')} ${merged <= 1 ? 'was' : 'were'} merged ${range}`
  const was = before?.pull_requests.merged
  const change =
    was === undefined || against === undefined
      ? ''
      : was === merged
        ? `, ${merged === 0 ? 'nor' : 'as many as'} ${against}`
        : `, ${formatWhole(Math.abs(merged - was))} ${merged > was ? 'more' : 'fewer'} than ${against}`
  const each = saidPerMerged(total)
  return `${first}${change}${each === null ? '' : `, for ${formatDollars(each)} each`}`
}

const SoftOutcomes = ({
  total: { linked_share, linked_cost, ai_lines, ai_share, survival },
}: {
  total: Outcomes['total']
}) => (
  <>
    {linked_share !== null &&
      `${formatShare(linked_share)} of the cost of these days is linked to pull requests of any time. Those of these days cost ${formatDollars(linked_cost)}, sessions of earlier days included. `}
    {ai_share !== null && `Agents wrote ${formatShare(ai_share)} of the lines. `}
    {survival?.['30'].share != null &&
      `Of them ${formatShare(survival['30'].share)} were still there after 30 days, as far as known: of ${formatWhole(survival['30'].of)} of ${countOf(ai_lines, 'line')}.`}
  </>
)

export const Totals = ({ total }: { total: Outcomes['total'] }) => (
  <Facts
    kind="totals"
    of={[
      ['Merged', formatWhole(total.pull_requests.merged)],
      ['Cost of a merged pull request', orUnknown(saidPerMerged(total), formatDollars)],
      ['Share of the cost linked to any', orUnknown(total.linked_share, formatShare)],
      ['Agents’ share of lines', orUnknown(total.ai_share, formatShare)],
      ['Lines still there after 30 days', orUnknown(total.survival?.['30'].share, formatShare)],
    ]}
  />
)

const outcomeColumns = (by: Group, members: People): readonly Column<Outcome>[] => [
  {
    name: groupTitle(by),
    cell: ({ key }) =>
      key === null ? (
        NONE
      ) : by === 'repo' ? (
        <NamedLink to={linkTo('pull-requests', { repo: key })}>{key}</NamedLink>
      ) : (
        <bdi>
          {by === 'month'
            ? formatMonth(key)
            : by === 'week'
              ? formatDay(key)
              : (members.get(key)?.name ?? key)}
        </bdi>
      ),
  },
  { name: 'Merged', number: ({ pull_requests: { merged } }) => formatWhole(merged) },
  {
    name: 'Open / closed',
    number: ({ pull_requests: { open, closed } }) => `${formatWhole(open)} / ${formatWhole(closed)}`,
  },
  dollarColumn('Cost', 'cost'),
  shareColumn('Linked', 'linked_share'),
  dollarColumn('Pull requests cost', 'linked_cost'),
  { name: 'Per merged', number: (one) => orUnknown(saidPerMerged(one), formatDollars) },
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
          “Linked” is the share of this cost that belongs to any pull request. The rest was not lost: not all
          work ends in one. “Pull requests cost” has their sessions, whenever these were; a session of several
          is divided. “Per merged” divides it by those merged, so that closed ones are paid for too; it is
          said where half of the cost is linked.
        </li>
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
