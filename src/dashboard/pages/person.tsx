// The page of one person, and `Me`: what their sessions cost, what was found, what became of them, what they know.

import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import type { Expertise } from '../../features/members/team-model.ts'
import type { Outcomes } from '../../features/outcomes/model.ts'
import type { ListedFinding } from '../../features/security/finding-model.ts'
import type { SessionListItem } from '../../features/sessions/model.ts'
import type { WhoAmI } from '../../features/whoami/model.ts'
import { PeriodChart } from '../charts/period-chart.tsx'
import { type Loaded, type Page, useApi } from '../client/api.ts'
import { addDays, daysOfPeriod, openPeriod, today, weekOf, wholeDays } from '../client/days.ts'
import { countOf, formatDollars, formatScore, formatWhole } from '../client/format.ts'
import { linkTo, type PageProps, type Query } from '../client/links.ts'
import { useAttention, useMembers } from '../client/lists.ts'
import { syncCommand } from '../client/server-url.ts'
import { Findings } from '../parts/findings.tsx'
import { Paged } from '../parts/list.tsx'
import { Answer, Empty, Facts, Later, Ready, Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'
import { Back, PLAIN_SESSION_COLUMNS, Time, UNKNOWN } from '../parts/values.tsx'
import { useStack } from './breakdown.ts'
import { Change } from './cost-columns.tsx'
import { EXPERTISE } from './expertise.tsx'
import { saidOfLeft, saidOfWindows } from './left-words.ts'
import { Totals } from './outcomes.tsx'

/** Weeks up to this one: one request has the five models of each that cost most. */
const WEEKS = 16
const NEWEST = 10
/** Days of the comparison. */
const DAYS = 30

interface PersonProps {
  id: string
  /** The person, where that is the reader. */
  me?: WhoAmI['member']
}

export function MePage({ who: { member } }: PageProps) {
  const attention = useAttention()
  if (member !== null) return <PersonPage key={member.id} id={member.id} me={member} />
  return (
    <Ready of={[attention]}>
      <Answer soft="This key belongs to nobody: sign in with a password to see what is yours.">
        {saidOfLeft(attention.value?.mine ?? [])}
      </Answer>
    </Ready>
  )
}

export function PersonPage({ id, me = null }: PersonProps) {
  const range = { from: addDays(weekOf(today()), -7 * (WEEKS - 1)), to: today() }
  const filters = { member: id, date_from: range.from, date_to: range.to }
  const stack = useStack('model', 'week', range, { member: id })
  const attention = useAttention(me !== null)
  const sessions = useApi<Page<SessionListItem>>('/sessions', {
    ...{ ...filters, include: 'details', per_page: NEWEST },
  })
  const expertise = useApi<Expertise>(me === null ? '/team/expertise' : undefined)
  // findings are open whatever the day
  const findings = useApi<Page<ListedFinding>>('/findings', { member: id, status: 'open', per_page: NEWEST })
  const days = wholeDays(DAYS)
  const others = useApi<Breakdown>(me === null ? undefined : '/cost/breakdown', {
    ...{ by: 'member', date_from: days.from, date_to: days.to, compare: 'previous', per_page: 100 },
  })
  const page = sessions.value
  const last = page?.data[0]
  const mine = attention.value
  const costs = stack.value?.series.flatMap(({ values }) => values)
  // the answers that are there anyway name most people
  const expert = expertise.value?.data.find((one) => one.user_id === id)
  const email = page?.data[0]?.member?.email
  const areThere = sessions.state === 'ready' && expertise.state === 'ready'
  const listed = useMembers(me === null && areThere && (expert === undefined || email == null)).get(id)
  const person =
    me !== null
      ? { name: me.display_name, email: me.email }
      : expert !== undefined && email != null
        ? { name: expert.display_name, email }
        : listed
  const sums = [
    ...(page === undefined ? [] : [countOf(page.pagination.total, 'session')]),
    ...(costs === undefined ? [] : [formatDollars(costs.reduce((sum, value) => sum + value, 0))]),
  ].join(', ')
  const isLookedAt = page?.pagination.total !== 0
  const links = { member: person?.email ?? id, ...range }
  return (
    <>
      {me === null && <Back to="team">All members</Back>}
      <Ready of={[stack, attention, sessions, expertise, findings, others]}>
        <Answer
          soft={
            <>
              {person !== undefined && <bdi>{person.email}; </bdi>}
              {mine !== undefined && mine.mine.length > 0 && `${sums} in `}the last {WEEKS} weeks. Costs are
              list prices.
            </>
          }
        >
          {mine !== undefined && mine.mine.length > 0 ? (
            saidOfLeft(mine.mine)
          ) : (
            <>
              <bdi>{person?.name ?? id}</bdi>: {sums}
            </>
          )}
        </Answer>
        {mine !== undefined && mine.windows.length > 0 && <p>{saidOfWindows(mine.windows)}.</p>}
        {last !== undefined && (
          <p>
            {me === null ? 'The' : 'Your'} last session,{' '}
            <a href={linkTo('sessions', {}, last.id)}>
              <Time at={last.created_at} />
            </a>
            , cost {formatDollars(last.estimated_cost)}: {countOf(last.turns, 'turn')} in{' '}
            <bdi>{last.project_name ?? 'no project'}</bdi>
            {last.branch != null && (
              <>
                {' '}
                on <bdi>{last.branch}</bdi>
              </>
            )}
            , quality {formatScore(last.quality_score)} of 100.
          </p>
        )}
        {me !== null && <Compared id={id} loaded={others} />}
        <Show loaded={stack} what="cost">
          {({ periods, series }) =>
            series.length === 0 ? (
              <Empty {...(me !== null && { command: syncCommand() })}>
                No sessions in these weeks.
                {me !== null && ' To send those that coding agents left on a disk:'}
              </Empty>
            ) : (
              <PeriodChart
                title="Cost by week and model"
                description="A bar for each week, stacked by model: US dollars of the person’s calls in it."
                periods={periods}
                series={series}
                unfinished={openPeriod('week')}
                linkOf={(week) => linkTo('sessions', { ...links, ...daysOfPeriod(week, 'week', range) })}
              />
            )
          }
        </Show>
        <Show loaded={sessions} what="sessions">
          {({ data, pagination: { total } }) => (
            <>
              <h2>{countOf(total, 'session')}</h2>
              {total > 0 && <Table caption="Newest sessions" rows={data} columns={PLAIN_SESSION_COLUMNS} />}
              <p>
                <a href={linkTo('sessions', links)}>All sessions</a>,{' '}
                <a href={linkTo('sessions', { ...links, sort: 'estimated_cost' })}>those that cost most</a>,{' '}
                <a href={linkTo('cost', links)}>cost by project</a>
              </p>
            </>
          )}
        </Show>
        <Show loaded={findings} what="findings">
          {({ data, pagination: { total } }) => (
            <>
              <h2>
                {isLookedAt || total > 0 ? countOf(total, 'open finding') : 'Nothing was looked at yet'}
              </h2>
              <Findings findings={data} />
              {total > 0 && (
                <p>
                  <a href={linkTo('security', { member: links.member })}>All findings</a>
                </p>
              )}
            </>
          )}
        </Show>
        <h2>Pull requests</h2>
        {me === null ? (
          <Merged filters={filters} />
        ) : (
          <Later summary="What became of them">
            <Merged filters={filters} />
          </Later>
        )}
        <h2>Expertise</h2>
        {me === null ? (
          <Domains id={id} loaded={expertise} />
        ) : (
          <Later summary="By domain">
            <OwnDomains id={id} />
          </Later>
        )}
      </Ready>
    </>
  )
}

/** Shows what became of the person's pull requests. */
const Merged = ({ filters }: { filters: Query }) => (
  <Show loaded={useApi<Outcomes>('/outcomes', { ...filters, per_page: 1 })} what="pull requests">
    {({ total }) => <Totals total={total} />}
  </Show>
)

function Domains({ id, loaded }: { id: string; loaded: Loaded<Expertise | undefined> }) {
  return (
    <Show loaded={loaded} what="expertise">
      {(experts) => {
        const rows = experts?.data.find(({ user_id }) => user_id === id)?.domains ?? []
        return rows.length === 0 ? (
          <Empty>No commits in files that are there.</Empty>
        ) : (
          <Paged
            noun="domains"
            caption="Expertise"
            rows={rows}
            keyOf={({ domain }) => domain}
            columns={EXPERTISE}
          />
        )
      }}
    </Show>
  )
}

/** The reader's, which are asked for by a click: the page makes six requests without them. */
const OwnDomains = ({ id }: { id: string }) => (
  <Domains id={id} loaded={useApi<Expertise>('/team/expertise')} />
)

/** The reader's last 30 whole days beside those of the others, as far as the organization shows these. */
function Compared({ id, loaded }: { id: string; loaded: Loaded<Breakdown | undefined> }) {
  return (
    <Show loaded={loaded} what="what others cost">
      {(members) => {
        const { data, pagination } = members ?? { data: [], pagination: { total: 0 } }
        const people = data.filter(({ key }) => key !== null)
        const mine = people.find(({ key }) => key === id)
        // they are in the order of their cost
        const middle = (people.length - 1) / 2
        const costs = [Math.floor(middle), Math.ceil(middle)].map((at) => people[at]?.cost ?? 0)
        const isKnown = people.length > 1 && pagination.total === data.length
        return (
          <Facts
            kind="totals"
            of={[
              [`Cost, ${DAYS} whole days`, formatDollars(mine?.cost ?? 0)],
              [
                `Against the ${DAYS} before`,
                mine === undefined ? (
                  UNKNOWN
                ) : (
                  <Change key="change" now={mine.cost} before={mine.previous?.cost} />
                ),
              ],
              ['Sessions', formatWhole(mine?.sessions ?? 0)],
              [
                `Median of ${people.length} people`,
                isKnown ? formatDollars(((costs[0] ?? 0) + (costs[1] ?? 0)) / 2) : undefined,
              ],
            ]}
          />
        )
      }}
    </Show>
  )
}
