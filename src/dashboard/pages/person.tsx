import type { Outcomes } from '../../outcomes/model.ts'
import type { SessionListItem } from '../../sessions/model.ts'
import type { Expertise } from '../../team/model.ts'
import { PeriodChart } from '../charts/period-chart.tsx'
import { type Page, useApi } from '../client/api.ts'
import { addDays, daysOfPeriod, today, weekOf } from '../client/days.ts'
import { countOf } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { useMembers } from '../client/lists.ts'
import { SESSION_COLUMNS } from '../parts/columns.tsx'
import { Back } from '../parts/link.tsx'
import { Paged } from '../parts/list.tsx'
import { Empty, Show } from '../parts/show.tsx'
import { Table } from '../parts/table.tsx'
import { useStack } from './breakdown.ts'
import { EXPERTISE } from './expertise.tsx'
import { Totals } from './outcomes.tsx'

/** Weeks up to this one: one request has the five models of each that cost most. */
const WEEKS = 16
const NEWEST = 10

/** One person: what their sessions cost, what became of them, and what they know. */
export function PersonPage({ id, query }: { id: string; query: URLSearchParams }) {
  const range = { from: addDays(weekOf(today()), -7 * (WEEKS - 1)), to: today() }
  const filters = { member: id, date_from: range.from, date_to: range.to }
  const person = useMembers(true).get(id)
  const stack = useStack('model', 'week', range, { member: id })
  const outcomes = useApi<Outcomes>('/outcomes', { ...filters, per_page: 1 })
  const sessions = useApi<Page<SessionListItem>>('/sessions', { ...filters, per_page: NEWEST })
  const expertise = useApi<Expertise>('/team/expertise')
  const links = { member: person?.email ?? id, ...range }
  return (
    <>
      <Back to="team">All members</Back>
      <h2>
        <bdi>{person?.name ?? id}</bdi>
      </h2>
      <p class="note">
        {person !== undefined && <bdi>{person.email}, </bdi>}the last {WEEKS} weeks
      </p>
      <Show loaded={stack} what="cost">
        {({ periods, series }) =>
          series.length === 0 ? (
            <Empty>No sessions in these weeks.</Empty>
          ) : (
            <PeriodChart
              title="Cost by week and model"
              description="A bar for each week, stacked by model: US dollars of the person’s sessions that began in it."
              periods={periods}
              series={series}
              linkOf={(week) => linkTo('sessions', { ...links, ...daysOfPeriod(week, 'week', range) })}
            />
          )
        }
      </Show>
      <Show loaded={sessions} what="sessions">
        {({ data, pagination: { total } }) => (
          <>
            <h2>{countOf(total, 'session')}</h2>
            {total > 0 && (
              <Table
                caption="Newest sessions"
                rows={data}
                keyOf={(session) => session.id}
                columns={SESSION_COLUMNS}
              />
            )}
            <p>
              <a href={linkTo('sessions', links)}>All sessions</a>,{' '}
              <a href={linkTo('cost', links)}>cost by project</a>
            </p>
          </>
        )}
      </Show>
      <h2>Pull requests</h2>
      <Show loaded={outcomes} what="pull requests">
        {({ total }) => <Totals total={total} />}
      </Show>
      <h2>Expertise</h2>
      <Show loaded={expertise} what="expertise">
        {({ data }) => {
          const rows = data.find(({ user_id }) => user_id === id)?.domains ?? []
          return rows.length === 0 ? (
            <Empty>No commits in files that are there.</Empty>
          ) : (
            <Paged
              {...{ page: 'team', id, query, noun: 'domains' }}
              caption="Expertise"
              rows={rows}
              keyOf={({ domain }) => domain}
              columns={EXPERTISE}
            />
          )
        }}
      </Show>
    </>
  )
}
