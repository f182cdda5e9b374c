import type { Breakdown } from '../../cost/breakdown-model.ts'
import type { CostTrend } from '../../cost/model.ts'
import type { Expertise, TeamOverview } from '../../team/model.ts'
import { PunchCard } from '../charts/punch-card.tsx'
import { useApi } from '../client/api.ts'
import { syncCommand } from '../client/base.ts'
import { lastDays } from '../client/days.ts'
import { countOf, formatDollars, formatNumber, formatTime, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { Bar } from '../parts/bar.tsx'
import { Empty, Show } from '../parts/show.tsx'
import { Pager, Table } from '../parts/table.tsx'
import { useMemberCosts } from './breakdown.ts'

/** Days of the punch card. */
const DAYS = 182
/** Rows of the tables that the API gives whole; the rest is named. */
const SHOWN = 100
const MEMBER_DAYS = 30

interface MachineList {
  data: {
    member: string | { id: string | null; email: string } | null
    machine: string
    last_seen_at: string
    sessions: number
  }[]
  pagination: { page: number; per_page: number; total: number }
}

/** Who is there, who works when and on what. */
export function TeamPage({ route: { query }, who }: PageProps) {
  const range = lastDays(DAYS)
  const activity = useApi<CostTrend>('/cost/trend', { date_from: range.from, date_to: range.to })
  return (
    <>
      <Members org={who.organization.slug} />
      <Show loaded={activity} what="activity">
        {({ data }) => (
          <PunchCard
            title="Sessions of each day, last 26 weeks"
            days={data.map(({ period, sessions }) => ({ day: period, count: sessions }))}
          />
        )}
      </Show>
      <Machines query={query} />
      <ExpertiseTables org={who.organization.slug} />
    </>
  )
}

function Members({ org }: { org: string }) {
  const team = useApi<TeamOverview>('/team')
  const range = lastDays(MEMBER_DAYS)
  const costs = useMemberCosts(range)
  const known = costs.state === 'failed' ? undefined : costs.value
  /** What the member's sessions came to; no figure where it is not known. */
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
            <Table
              caption="Members"
              rows={members.slice(0, SHOWN)}
              keyOf={({ id }) => id}
              columns={[
                {
                  name: 'Member',
                  cell: ({ id, display_name }) => (
                    <a href={linkTo('sessions', { member: id })}>
                      <bdi>{display_name}</bdi>
                    </a>
                  ),
                },
                { name: 'Address', cell: ({ email }) => <bdi>{email}</bdi> },
                { name: 'Role', cell: ({ role }) => role },
                { name: 'Joined', cell: ({ joined_at }) => joined_at.slice(0, 10) },
                {
                  name: `Sessions, ${MEMBER_DAYS} days`,
                  isNumber: true,
                  cell: ({ id }) => figureOf(id, ({ sessions }) => formatWhole(sessions), formatWhole(0)),
                },
                {
                  name: `Cost, ${MEMBER_DAYS} days`,
                  isNumber: true,
                  cell: ({ id }) => figureOf(id, ({ cost }) => formatDollars(cost), formatDollars(0)),
                },
              ]}
            />
          )}
          <Rest shown={SHOWN} total={members.length} noun="members" />
        </section>
      )}
    </Show>
  )
}

function Rest({ shown, total, noun }: { shown: number; total: number; noun: string }) {
  if (total <= shown) return null
  return (
    <p class="note">
      The first {formatWhole(shown)} of {formatWhole(total)} {noun}; the others are in the API.
    </p>
  )
}

function ExpertiseTables({ org }: { org: string }) {
  const expertise = useApi<Expertise>('/team/expertise')
  return (
    <Show loaded={expertise} what="expertise">
      {({ data, domains }) => {
        if (domains.length === 0)
          return (
            <section>
              <h2>Who knows what</h2>
              <Empty command={`cloud-analytics sync PATH/TO/REPOSITORY --org ${org}`}>
                No commits yet. To send those of a repository:
              </Empty>
            </section>
          )
        const names = new Map(data.map(({ user_id, display_name }) => [user_id, display_name]))
        const rows = data
          .flatMap(({ user_id, display_name, domains: own }) =>
            own.map((domain) => ({ ...domain, user_id, display_name })),
          )
          .sort((a, b) => b.score - a.score)
        return (
          <>
            <section>
              <h2>Bus factor</h2>
              <p class="note">
                The smallest number of people without whom more than half of a domain’s files have no author.
              </p>
              <Table
                caption="Bus factor"
                rows={domains.slice(0, SHOWN)}
                keyOf={({ domain }) => domain}
                columns={[
                  { name: 'Domain', cell: ({ domain }) => <bdi>{domain}</bdi> },
                  { name: 'Files', isNumber: true, cell: ({ files }) => formatWhole(files) },
                  {
                    name: 'Bus factor',
                    isNumber: true,
                    cell: ({ bus_factor }) => <span class={bus_factor <= 1 ? 'bad' : ''}>{bus_factor}</span>,
                  },
                  {
                    name: 'Primary owner',
                    cell: ({ primary_owner_id }) => (
                      <bdi>
                        {primary_owner_id === null ? '–' : (names.get(primary_owner_id) ?? primary_owner_id)}
                      </bdi>
                    ),
                  },
                ]}
              />
              <Rest shown={SHOWN} total={domains.length} noun="domains" />
            </section>
            <section>
              <h2>Expertise</h2>
              <Table
                caption="Expertise"
                rows={rows.slice(0, SHOWN)}
                keyOf={({ user_id, display_name, domain }) => `${user_id} ${display_name} ${domain}`}
                columns={[
                  { name: 'Person', cell: ({ display_name }) => <bdi>{display_name}</bdi> },
                  { name: 'Domain', cell: ({ domain }) => <bdi>{domain}</bdi> },
                  {
                    name: 'Score',
                    isNumber: true,
                    cell: ({ score }) => (
                      <>
                        {formatNumber(score)} <Bar fraction={score / 100} />
                      </>
                    ),
                  },
                  { name: 'Commits', isNumber: true, cell: ({ commits }) => formatWhole(commits) },
                  { name: 'Sessions', isNumber: true, cell: ({ sessions }) => formatWhole(sessions) },
                  {
                    name: 'Files owned',
                    isNumber: true,
                    cell: ({ files_owned, ownership_percent }) =>
                      `${formatWhole(files_owned)} (${formatNumber(ownership_percent)} %)`,
                  },
                  { name: 'Last active', cell: ({ last_active_at }) => last_active_at.slice(0, 10) },
                ]}
              />
              <Rest shown={SHOWN} total={rows.length} noun="rows" />
            </section>
          </>
        )
      }}
    </Show>
  )
}

function Machines({ query }: { query: URLSearchParams }) {
  const machines = useApi<MachineList>('/team/machines', {
    page: query.get('page') ?? undefined,
    per_page: 50,
  })
  return (
    <section>
      <h2>Machines</h2>
      <Show loaded={machines} what="machines">
        {({ data, pagination }) =>
          pagination.total === 0 ? (
            <Empty command={syncCommand()}>No machine has sent sessions by itself yet. On a laptop:</Empty>
          ) : (
            <>
              <Table
                caption="Machines"
                rows={data}
                keyOf={({ member, machine }) => `${nameOf(member)} ${machine}`}
                columns={[
                  { name: 'Member', cell: ({ member }) => <bdi>{nameOf(member)}</bdi> },
                  { name: 'Machine', cell: ({ machine }) => <bdi>{machine}</bdi> },
                  { name: 'Last seen (UTC)', cell: ({ last_seen_at }) => formatTime(last_seen_at) },
                  { name: 'Sessions', isNumber: true, cell: ({ sessions }) => formatWhole(sessions) },
                ]}
              />
              <Pager pagination={pagination} page="team" query={query} noun="machines" />
            </>
          )
        }
      </Show>
    </section>
  )
}

const nameOf = (member: MachineList['data'][number]['member']): string =>
  member === null ? '–' : typeof member === 'string' ? member : member.email
