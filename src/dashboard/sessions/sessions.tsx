// The page `Sessions`: the list of those that match, with filters and columns to choose.

import { useState } from 'preact/hooks'
import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import type { SessionListItem } from '../../features/sessions/model.ts'
import { type Page, useApi } from '../client/api.ts'
import { addDays, today } from '../client/days.ts'
import { countOf, formatDollars, inRange } from '../client/format.ts'
import type { PageProps } from '../client/links.ts'
import { datesOf, rangeOf } from '../client/ranges.ts'
import { linkDays, linkHere, useHere } from '../client/router.ts'
import { storedAs } from '../client/storage.ts'
import { Bar } from '../frame/bar.tsx'
import { KEYS } from '../pages/breakdown.ts'
import { pick } from '../parts/fields.tsx'
import { useOffered } from '../parts/list.tsx'
import { Answer, NoSessions, Ready, Show } from '../parts/show.tsx'
import { type Column, Pager, type Sorting, sortingOf, Table } from '../parts/table.tsx'
import { codeColumn, SESSION_COLUMNS, textColumn, timeColumn, wholeColumn } from '../parts/values.tsx'

const PER_PAGE = 25
/** Filters of the list that are the same in the page's address. */
const FILTERS = [...KEYS, 'min_cost', 'max_cost', 'min_quality', 'max_quality', 'has_findings'] as const

export function SessionsPage({ route, who: { member } }: PageProps) {
  const { query } = route
  const list = {
    ...pick(query, ...FILTERS),
    ...datesOf(query),
    ...pick(query, 'sort', 'order', 'page'),
    include: 'details',
    per_page: PER_PAGE,
  }
  const sessions = useApi<Page<SessionListItem>>('/sessions', list)
  const sums = useApi<Breakdown>('/cost/breakdown', {
    ...pick(query, ...FILTERS),
    ...datesOf(query),
    by: 'project',
    per_page: 1,
  })
  const range = rangeOf(query)
  // a range that ends yesterday leaves out the newest
  const leavesOut = range.to === addDays(today(), -1) && range.from <= range.to
  const ofToday = useApi<Page<SessionListItem>>(leavesOut ? '/sessions' : undefined, {
    ...{ ...pick(query, ...FILTERS), date_from: today(), date_to: today(), per_page: 1 },
  })
  const leftOut = ofToday.value?.pagination.total ?? 0
  const { loaded: shown, offer } = useOffered(sessions, 'sessions')
  const total = sums.value?.total
  return (
    <>
      <Bar filters={FILTERS} csv={{ path: '/sessions', query: list, name: 'sessions' }}>
        {member !== null && query.get('member') !== member.email && (
          <a class="button" href={linkHere(route, { member: member.email, page: undefined })}>
            Only mine
          </a>
        )}
      </Bar>
      <Ready of={[sessions, sums, ofToday]}>
        <Show loaded={shown} what="sessions">
          {({ data, pagination }) => (
            <>
              <Answer
                soft={
                  (pagination.total > 0 || leftOut > 0) && (
                    <>
                      <OfToday count={leftOut} />
                      {pagination.total > 0 &&
                        total !== undefined &&
                        `${countOf(total.turns, 'turn')}; the calls of these days cost ${formatDollars(total.cost)}. A session counts on the day on which it began.`}
                    </>
                  )
                }
              >
                {pagination.total === 0 ? 'No session' : countOf(pagination.total, 'session')} began{' '}
                {inRange(range)}
              </Answer>
              {pagination.total === 0 ? (
                <NoSessions />
              ) : (
                <>
                  {offer}
                  <SessionTable sessions={data} sorting={sortingOf(query, 'created_at')} />
                  <Pager pagination={pagination} noun="sessions" />
                </>
              )}
            </>
          )}
        </Show>
      </Ready>
    </>
  )
}

/** Says how many sessions of today the days leave out, with the way to them. */
function OfToday({ count }: { count: number }) {
  const here = useHere()
  if (count === 0) return null
  return (
    <>
      Not among them: <a href={linkDays(here, 'today')}>{countOf(count, 'session')} of today</a>.{' '}
    </>
  )
}

const COLUMNS: readonly Column<SessionListItem>[] = [
  ...SESSION_COLUMNS,
  textColumn('Branch', 'branch'),
  timeColumn('Ended', 'ended_at'),
  wholeColumn('Findings', 'findings'),
  codeColumn('Id', 'id'),
]
/** Shown until somebody chooses others in this browser. */
const USUAL = ['Project', 'Member', 'Agent', 'Model', 'Turns', 'Cost', 'Quality']

function SessionTable({ sessions, sorting }: { sessions: readonly SessionListItem[]; sorting: Sorting }) {
  const stored = storedAs('cloud-analytics-columns-sessions', () => localStorage)
  const [chosen, setChosen] = useState<readonly string[]>(() => stored.read()?.split(',') ?? USUAL)
  const choose = (name: string, isShown: boolean) => {
    const names = isShown ? [...chosen, name] : chosen.filter((other) => other !== name)
    setChosen(names)
    stored.write(names.join())
  }
  return (
    <>
      <details class="columns">
        <summary>Columns</summary>
        <fieldset>
          <legend class="hidden">Columns</legend>
          {COLUMNS.slice(1).map(({ name }) => (
            <label key={name} class="check">
              <input
                type="checkbox"
                checked={chosen.includes(name)}
                onChange={({ currentTarget: { checked } }) => choose(name, checked)}
              />
              {name}
            </label>
          ))}
        </fieldset>
      </details>
      <Table
        caption="Sessions"
        isSaved
        columns={COLUMNS.filter(({ name }, index) => index === 0 || chosen.includes(name))}
        rows={sessions}
        sorting={sorting}
      />
    </>
  )
}
