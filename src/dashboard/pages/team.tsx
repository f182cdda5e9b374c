// The page `Team`: who is there, who works when and on what, and who knows a file.

import { useState } from 'preact/hooks'
import type { CostTrend } from '../../features/cost/model.ts'
import type { Expertise, TeamOverview } from '../../features/members/team-model.ts'
import { PunchCard } from '../charts/punch-card.tsx'
import { type Loaded, useApi } from '../client/api.ts'
import { datesIn, lastDays, type Range } from '../client/days.ts'
import { capital, countOf, formatRange, formatScore, formatWhole, inRange, someOf } from '../client/format.ts'
import { keptOf, linkTo, type PageProps } from '../client/links.ts'
import { rangeOf } from '../client/ranges.ts'
import { setQuery } from '../client/router.ts'
import { Bar } from '../frame/bar.tsx'
import { Field } from '../parts/fields.tsx'
import { Button } from '../parts/form.tsx'
import { Paged } from '../parts/list.tsx'
import { Answer, Empty, Ready, Show } from '../parts/show.tsx'
import { dayColumn, dollarColumn, NamedLink, orUnknown, textColumn, wholeColumn } from '../parts/values.tsx'
import { useMemberCosts } from './breakdown.ts'
import { ExpertiseTables } from './expertise.tsx'

/** Days of the punch card. */
const DAYS = 182
/** Who had no session in as many days, today included, is named. */
const WEEK = 7

export function TeamPage({ route: { query }, who }: PageProps) {
  const half = lastDays(DAYS)
  const range = rangeOf(query)
  const text = query.get('q')?.trim() ?? ''
  const path = isPath(text) || query.get('is') === 'file' ? text : undefined
  const team = useApi<TeamOverview>('/team')
  // a hundred members a page, those who cost most
  const [pages, setPages] = useState(1)
  const costs = useMemberCosts(range, pages)
  const week = useMemberCosts(lastDays(WEEK), 1)
  const activity = useApi<CostTrend>('/cost/trend', datesIn(half))
  const expertise = useApi<Expertise>('/team/expertise', { path })
  const idle = idleOf(team, week)
  const matches = (...names: string[]) =>
    path !== undefined || names.some((name) => name.toLowerCase().includes(text.toLowerCase()))
  return (
    <>
      <Bar filters={[]}>
        <Field
          label="Person, domain or file"
          placeholder="all"
          value={text}
          onChange={(q) =>
            setQuery({ q, is: undefined, members: undefined, domains: undefined, people: undefined })
          }
        />
      </Bar>
      <Ready of={[team, costs, week, activity, expertise]}>
        <Answer
          soft={`${path === undefined ? idleSaid(idle, lastDays(WEEK)) : onlySaid(expertise.value?.files, path)}The bus factor of a domain is the smallest number of people without whom more than half of its files have no author.`}
        >
          {path !== undefined ? (
            <Knowers expertise={expertise} path={path} />
          ) : (
            sentenceOf(team, expertise, idle)
          )}
        </Answer>
        {path === undefined && (
          <>
            <Members
              {...{ team, costs, range, matches }}
              kept={keptOf(query)}
              more={() => setPages(pages + 1)}
              org={who.organization.slug}
            />
            <Show loaded={activity} what="activity">
              {({ data }) => data.some(({ sessions }) => sessions > 0) && <PunchCard days={data} />}
            </Show>
            <p class="note">
              <a href={linkTo('devices')}>Machines, and what telemetry and transcripts tell of whom</a>
            </p>
          </>
        )}
        <ExpertiseTables
          {...{ loaded: expertise, matches }}
          org={who.organization.slug}
          isOfFile={path !== undefined}
        />
      </Ready>
    </>
  )
}

/** Whether the text is a path rather than a name: it has a slash, or an ending. */
const isPath = (text: string): boolean => /\/|\.[a-z0-9]{1,8}$/i.test(text) && !text.includes('@')

/** Says that a name has one file: the reader may have thought of another. */
const onlySaid = (files: readonly string[] | undefined, path: string): string =>
  files?.length === 1 && files[0] !== path ? `It is the only file called ${path}. ` : ''

/** Says who knows a file, or which files have the name. */
function Knowers({ expertise, path }: { expertise: Loaded<Expertise>; path: string }) {
  const { files = [] } = expertise.value ?? {}
  const [only = path] = files
  if (files.length < 2) return <>{knowersOf(expertise, only)}</>
  return (
    <>
      {formatWhole(files.length)} files are called {path}:{' '}
      {files.map((file, at) => (
        <>
          {at > 0 && ', '}
          <a href={linkTo('team', { q: file })}>{file}</a>
        </>
      ))}
    </>
  )
}

/** `Ada knows src/deploy.ts best (91.2), then Bob (40.0)`. */
function knowersOf(expertise: Loaded<Expertise>, path: string): string {
  const people = expertise.value?.data ?? []
  const experts = people.filter(({ score = 0 }) => score > 0)
  const [first, second] = experts
  const said = ({ display_name, score = 0 }: (typeof experts)[number]) =>
    `${display_name} (${formatScore(score)} of 100)`
  if (first !== undefined)
    return `${said(first)} knows ${path} best${second === undefined ? ', and nobody else does' : `, then ${said(second)}`}`
  if (!path.includes('/')) return `Nobody is known to have written a file called ${path}`
  const [near] = people
  return near === undefined
    ? `Nobody is known to have written ${path} or beside it`
    : `Nobody wrote ${path} yet; ${near.display_name} knows its folder best`
}

/** `21 members, 14 at work in the last 7 days; 11 of 20 domains hang on one person`. */
function sentenceOf(team: Loaded<TeamOverview>, expertise: Loaded<Expertise>, idle: Idle): string {
  const overview = team.value
  const domains = expertise.value?.domains
  const people =
    overview === undefined
      ? ''
      : overview.members.length === 0
        ? 'nobody is a member yet'
        : `${countOf(overview.members.length, 'member')}, ${formatWhole(idle === undefined ? overview.activity_summary.active_members_last_7d : overview.members.length - idle.length)} of them at work in the last 7 days`
  if (domains === undefined || domains.length === 0) return capital(people) || 'Team'
  const alone = domains.filter(({ bus_factor }) => bus_factor <= 1).length
  const hang = `${alone === 0 ? 'No domain hangs' : `${formatWhole(alone)} of ${countOf(domains.length, 'domain')} ${alone === 1 ? 'hangs' : 'hang'}`} on one person`
  return people === '' ? hang : `${hang}; ${people}`
}

/** Members without a session that a sentence names. */
const NAMED = 5

type Idle = TeamOverview['members'] | undefined

/** The members without a session; undefined where not all who had one are known. */
function idleOf(team: Loaded<TeamOverview>, { value: sums }: MembersProps['costs']): Idle {
  return sums?.isWhole ? team.value?.members.filter(({ id }) => !sums.byId.get(id)?.sessions) : undefined
}

/** `2 members had no session from 1 to 30 Nov: Ada, Ben. ` */
function idleSaid(idle: Idle = [], range: Range): string {
  if (idle.length === 0) return ''
  const names = idle.map(({ display_name }) => display_name)
  return `${countOf(idle.length, 'member')} had no session ${inRange(range)}: ${someOf(names, NAMED)}. `
}

interface MembersProps {
  team: Loaded<TeamOverview>
  costs: ReturnType<typeof useMemberCosts>
  range: Range
  matches: (...names: string[]) => boolean
  kept: Record<string, string | undefined>
  /** Loads the figures of more members. */
  more: () => void
  org: string
}

function Members({ team, costs, range, matches, kept, more, org }: MembersProps) {
  const sums = costs.value
  const none = sums?.isWhole === true ? 0 : null
  const figuresOf = (id: string): Record<'sessions' | 'cost', number | null> =>
    sums?.byId.get(id) ?? { sessions: none, cost: none }
  return (
    <Show loaded={team} what="members">
      {({ members }) => (
        <section>
          {costs.state === 'failed' && (
            <p class="note">Sessions and cost of the members are not known: {costs.error.message}</p>
          )}
          {members.length === 0 ? (
            <Empty
              command={`cloud-analytics member add --org ${org} --email ada@example.com --name Ada --role developer`}
            >
              No members yet. <a href={linkTo('settings', {}, 'members')}>Invite them</a>, or add one by a
              command:
            </Empty>
          ) : (
            <Paged
              caption="Members"
              name="members"
              noun="members"
              rows={members
                .filter(({ display_name, email }) => matches(display_name, email))
                .map((one) => ({ ...one, ...figuresOf(one.id), id: one.id }))
                .sort((one, other) => (other.cost ?? 0) - (one.cost ?? 0))}
              columns={[
                {
                  name: 'Member',
                  value: ({ display_name }) => display_name,
                  cell: ({ id, display_name }) => (
                    <NamedLink to={linkTo('team', {}, id)}>{display_name}</NamedLink>
                  ),
                },
                textColumn('Address', 'email'),
                { ...textColumn('Team', 'team'), phone: 'also' },
                textColumn('Role', 'role'),
                dayColumn('Joined', 'joined_at'),
                {
                  ...wholeColumn('Sessions', 'sessions'),
                  phone: 'also',
                  number: ({ sessions, email }) => (
                    <a href={linkTo('sessions', { ...kept, member: email })}>
                      {orUnknown(sessions, formatWhole)}
                    </a>
                  ),
                },
                { ...dollarColumn('Cost', 'cost'), phone: 'main' },
              ]}
            />
          )}
          <p class="note">
            Sessions and cost are of {formatRange(range)}
            {sums?.isWhole === false && (
              <>
                , of the {formatWhole(sums.byId.size)} who cost most. <Button act={more}>Load more</Button>
              </>
            )}
          </p>
        </section>
      )}
    </Show>
  )
}
