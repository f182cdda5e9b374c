import { useEffect, useState } from 'preact/hooks'
import type { SessionDetail, SessionListItem } from '../../features/sessions/model.ts'
import { getJson, type Page, useApi } from '../client/api.ts'
import { useMembers } from '../client/lists.ts'
import type { PageProps } from '../client/page-props.ts'
import { storedAs } from '../client/storage.ts'
import { KEYS } from '../pages/breakdown.ts'
import { codeColumn, SESSION_COLUMNS, UNKNOWN } from '../parts/columns.tsx'
import { Csv } from '../parts/csv.tsx'
import {
  datesOf,
  Filters,
  pick,
  QueryChoice,
  QueryField,
  SessionChoosers,
  sortingOf,
} from '../parts/filters.tsx'
import { useOffered } from '../parts/offered.tsx'
import { NoSessions, Show } from '../parts/show.tsx'
import { type Column, Pager, type Sorting, Table } from '../parts/table.tsx'

const PER_PAGE = 25
/** Filters of the list that are the same in the page's URL. */
const FILTERS = [...KEYS, 'min_cost', 'max_cost', 'min_quality', 'max_quality', 'has_findings'] as const

const FINDINGS = [
  ['', 'with or without'],
  ['true', 'with'],
  ['false', 'without'],
] as const

/** The sessions that match. */
export function SessionsPage({ route: { query }, who }: PageProps) {
  const list = {
    ...pick(query, ...FILTERS),
    ...datesOf(query),
    ...pick(query, 'sort', 'order', 'page'),
    per_page: PER_PAGE,
  }
  const sessions = useApi<Page<SessionListItem>>('/sessions', list)
  const { loaded: shown, offer } = useOffered(sessions, 'sessions')
  const bound = (name: string, label: string) => <QueryField name={name} label={label} isNumber />
  return (
    <>
      <Filters>
        <SessionChoosers />
        {bound('min_cost', 'Cost from')}
        {bound('max_cost', 'Cost to')}
        {bound('min_quality', 'Quality from')}
        {bound('max_quality', 'Quality to')}
        <QueryChoice name="has_findings" label="Findings" options={FINDINGS} />
      </Filters>
      <Show loaded={shown} what="sessions">
        {({ data, pagination }) =>
          pagination.total === 0 ? (
            <NoSessions />
          ) : (
            <>
              {offer}
              <SessionTable sessions={data} who={who} sorting={sortingOf(query, 'created_at')} />
              <Pager pagination={pagination} noun="sessions" />
              <Csv path="/sessions" query={list} name="sessions" />
            </>
          )
        }
      </Show>
    </>
  )
}

/** Only the session itself has these fields, not the list. */
type Origin = Pick<SessionDetail, 'user_id' | 'source' | 'models' | 'branch'>

/** Time after which rows that came into view are still there, and the page has loaded. */
const IDLE_MS = 300

/**
 * Asks for the sessions whose rows are in view, one after another, once nothing else is loaded. Of those that could not be
 * read nothing is known.
 */
function useOrigins(sessions: readonly SessionListItem[], isNeeded: boolean): ReadonlyMap<string, Origin> {
  const [origins, setOrigins] = useState<ReadonlyMap<string, Origin>>(new Map())
  const key = isNeeded ? sessions.map(({ id }) => id).join(' ') : ''
  useEffect(() => {
    if (key === '') return
    const controller = new AbortController()
    const waiting = new Set<string>()
    const work = async (): Promise<void> => {
      for (const id of waiting) {
        waiting.delete(id)
        const path = `/sessions/${encodeURIComponent(id)}`
        const session = await getJson<SessionDetail>(path, { signal: controller.signal })
        setOrigins((before) => new Map([...before, [id, session]]))
      }
    }
    let timer: ReturnType<typeof setTimeout> | undefined
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const id = (target as HTMLElement).dataset.key ?? ''
        if (isIntersecting && !origins.has(id)) waiting.add(id)
        else waiting.delete(id)
      }
      clearTimeout(timer)
      timer = setTimeout(() => void work().catch(() => undefined), IDLE_MS)
    })
    for (const row of document.querySelectorAll('tr[data-key]')) observer.observe(row)
    return () => {
      observer.disconnect()
      clearTimeout(timer)
      controller.abort()
    }
  }, [key])
  return origins
}

/** Requests a minute of which the rows in view may be asked for without that somebody chose their columns. */
const ENOUGH = 500
const LISTED = ['Project', 'Turns', 'Cost', 'Quality']
const ORIGIN = ['Member', 'Agent', 'Models', 'Branch']

interface SessionTableProps {
  sessions: readonly SessionListItem[]
  sorting: Sorting
  who: PageProps['who']
}

function SessionTable({ sessions, sorting, who }: SessionTableProps) {
  // a row on a phone is a card, which should not fill the window
  const hasRoom = matchMedia('(min-width: 601px)').matches
  const usual = who.limits.read < ENOUGH || !hasRoom ? LISTED : ['Member', 'Agent', 'Models', ...LISTED]
  const { chosen, choose } = useColumns('sessions', usual)
  const needsOrigins = ORIGIN.some((name) => chosen.includes(name))
  const origins = useOrigins(sessions, needsOrigins)
  const members = useMembers(chosen.includes('Member'))
  const origin = (name: string, pick: (origin: Origin) => string | null): Column<SessionListItem> => ({
    name,
    cell: ({ id }) => {
      const known = origins.get(id)
      return known === undefined ? '…' : <bdi>{pick(known) ?? UNKNOWN}</bdi>
    },
  })
  const columns: readonly Column<SessionListItem>[] = [
    ...SESSION_COLUMNS.slice(0, 1),
    origin('Member', ({ user_id }) => (user_id === null ? null : (members.get(user_id)?.name ?? user_id))),
    origin('Agent', ({ source }) => source),
    origin('Models', ({ models }) => models.join(', ')),
    origin('Branch', ({ branch }) => branch),
    ...SESSION_COLUMNS.slice(1),
    codeColumn('Id', 'id'),
  ]
  return (
    <>
      <ColumnChooser names={columns.slice(1).map(({ name }) => name)} chosen={chosen} choose={choose} />
      <Table
        caption="Sessions"
        columns={columns.filter(({ name }, index) => index === 0 || chosen.includes(name))}
        rows={sessions}
        sorting={sorting}
      />
    </>
  )
}

/** The names of a table's columns that somebody chose in this browser, `usual` unless they did, and what changes them. */
function useColumns(table: string, usual: readonly string[]) {
  const stored = storedAs(`cloud-analytics-columns-${table}`, () => localStorage)
  const [chosen, setChosen] = useState<readonly string[]>(() => stored.read()?.split(',') ?? usual)
  const choose = (names: readonly string[]) => {
    setChosen(names)
    stored.write(names.join())
  }
  return { chosen, choose }
}

interface ChooserProps {
  /** All that can be chosen. */
  names: readonly string[]
  chosen: readonly string[]
  choose: (names: readonly string[]) => void
}

/** A checklist of columns. */
function ColumnChooser({ names, chosen, choose }: ChooserProps) {
  return (
    <details class="columns">
      <summary>Columns</summary>
      <fieldset>
        <legend class="hidden">Columns</legend>
        {names.map((name) => (
          <label key={name} class="check">
            <input
              type="checkbox"
              checked={chosen.includes(name)}
              onChange={({ currentTarget: { checked } }) =>
                choose(checked ? [...chosen, name] : chosen.filter((other) => other !== name))
              }
            />
            {name}
          </label>
        ))}
      </fieldset>
    </details>
  )
}
