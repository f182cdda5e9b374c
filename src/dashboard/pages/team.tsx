import { useState } from 'preact/hooks'
import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import type { CostTrend } from '../../features/cost/model.ts'
import type { TeamOverview } from '../../features/team/model.ts'
import { PunchCard } from '../charts/punch-card.tsx'
import { useApi } from '../client/api.ts'
import { lastDays } from '../client/days.ts'
import { countOf, formatDollars, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { setQuery } from '../client/router.ts'
import { dayColumn, textColumn } from '../parts/columns.tsx'
import { Field } from '../parts/field.tsx'
import { FilterForm } from '../parts/filters.tsx'
import { Button } from '../parts/form.tsx'
import { NamedLink } from '../parts/link.tsx'
import { Paged } from '../parts/list.tsx'
import { Empty, Show } from '../parts/show.tsx'
import { useMemberCosts } from './breakdown.ts'
import { ExpertiseTables, type FoundProps } from './expertise.tsx'

/** Days of the punch card. */
const DAYS = 182
const MEMBER_DAYS = 30

/** Who is there, who works when and on what. */
export function TeamPage({ route: { query }, who }: PageProps) {
  const range = lastDays(DAYS)
  const activity = useApi<CostTrend>('/cost/trend', { date_from: range.from, date_to: range.to })
  const wanted = query.get('q')?.toLowerCase() ?? ''
  const matches = (...names: string[]) => names.some((name) => name.toLowerCase().includes(wanted))
  const shared = { org: who.organization.slug, matches }
  return (
    <>
      <FilterForm>
        <Field
          label="Person or domain"
          placeholder="all"
          value={query.get('q') ?? ''}
          onChange={(q) => setQuery({ q, members: undefined, domains: undefined, people: undefined })}
        />
      </FilterForm>
      <Members {...shared} />
      <Show loaded={activity} what="activity">
        {({ data }) => (
          <PunchCard
            title="Sessions of each day, last 26 weeks"
            days={data.map(({ period, sessions }) => ({ day: period, count: sessions }))}
          />
        )}
      </Show>
      <p class="note">
        <a href={linkTo('devices')}>Machines, and what telemetry and transcripts tell of whom</a>
      </p>
      <ExpertiseTables {...shared} />
    </>
  )
}

function Members({ org, matches }: FoundProps) {
  const team = useApi<TeamOverview>('/team')
  const range = lastDays(MEMBER_DAYS)
  const [pages, setPages] = useState(1)
  const costs = useMemberCosts(range, pages)
  const known = costs.state === 'failed' ? undefined : costs.value
  /** Returns a figure of the member's sessions; a dash while it is not known. */
  const figureOf = (id: string, pick: (item: Breakdown['data'][number]) => string, none: string): string => {
    const item = known?.byId.get(id)
    if (item !== undefined) return pick(item)
    return known?.isWhole === true ? none : '–'
  }
  return (
    <Show loaded={team} what="members">
      {({ members, activity_summary }) => (
        <section>
          <p class="note">
            {countOf(members.length, 'member')}; in the last 7 days{' '}
            {countOf(activity_summary.sessions_last_7d, 'session')},{' '}
            {countOf(activity_summary.active_members_last_7d, 'member')} active
          </p>
          {costs.state === 'failed' && (
            <p class="note">Sessions and cost of the members are not known: {costs.error.message}</p>
          )}
          {members.length === 0 ? (
            <Empty
              command={`cloud-analytics member add --org ${org} --email ada@example.com --name Ada --role developer`}
            >
              No members yet. To add one:
            </Empty>
          ) : (
            <Paged
              caption="Members"
              name="members"
              noun="members"
              rows={members.filter(({ display_name, email }) => matches(display_name, email))}
              columns={[
                {
                  name: 'Member',
                  cell: ({ id, display_name }) => (
                    <NamedLink to={linkTo('team', {}, id)}>{display_name}</NamedLink>
                  ),
                },
                textColumn('Address', 'email'),
                textColumn('Role', 'role'),
                dayColumn('Joined', 'joined_at'),
                {
                  name: `Sessions, ${MEMBER_DAYS} days`,
                  number: ({ id, email }) => (
                    <a href={linkTo('sessions', { member: email })}>
                      {figureOf(id, ({ sessions }) => formatWhole(sessions), formatWhole(0))}
                    </a>
                  ),
                },
                {
                  name: `Cost, ${MEMBER_DAYS} days`,
                  number: ({ id }) => figureOf(id, ({ cost }) => formatDollars(cost), formatDollars(0)),
                },
              ]}
            />
          )}
          {known?.isWhole === false && (
            <p class="note">
              Sessions and cost are those of the {formatWhole(known.byId.size)} who cost most.{' '}
              <Button act={() => setPages(pages + 1)}>Load more</Button>
            </p>
          )}
        </section>
      )}
    </Show>
  )
}
