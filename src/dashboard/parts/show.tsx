import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { SessionListItem } from '../../features/sessions/model.ts'
import { type ApiFailure, type Loaded, MAX_RETRY_S, type Page, useApi } from '../client/api.ts'
import { syncCommand } from '../client/base.ts'
import { addDays, dayOfTime } from '../client/days.ts'
import { formatDay, formatDuration } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { linkHere, useHere } from '../client/router.ts'
import { pick } from './filters.tsx'
import { Button } from './form.tsx'

// Shows what was loaded, that it is loading, or why it failed.

interface ShowProps<Value> {
  loaded: Loaded<Value>
  /** Names the value in the message while it is loaded. */
  what: string
  children: (value: Value) => ComponentChildren
}

/** The loaded value, or what became of it instead. The value before stays while the next is loaded. */
export function Show<Value>({ loaded, what, children }: ShowProps<Value>) {
  if (loaded.state === 'failed') return <Failure error={loaded.error} retry={loaded.retry} what={what} />
  if (loaded.value !== undefined) {
    // the same element in both states: another one would be a new element without the focus
    return <div class={loaded.state === 'loading' ? 'stale' : 'shown'}>{children(loaded.value)}</div>
  }
  return (
    <p class="note" role="status">
      Loading {what} …
    </p>
  )
}

interface FailureProps {
  error: ApiFailure
  retry: () => void
  what: string
}

function Failure({ error: { status, message, retryAfterS }, retry, what }: FailureProps) {
  if (status === 403)
    return (
      <p class="note">
        This key may not read {what}: {message}
      </p>
    )
  return (
    <p class="note failure" role="alert">
      {message}
      {retryAfterS !== undefined &&
        `; ${retryAfterS <= MAX_RETRY_S ? 'trying' : 'it can be tried'} again in ${formatDuration(retryAfterS)}`}{' '}
      <Button act={retry}>Try again</Button>
    </p>
  )
}

/** Parameters of a page's URL that leave nothing out. */
const NO_FILTERS = new Set([
  'page',
  'files',
  'sort',
  'order',
  'by',
  'and_by',
  'against',
  'top',
  'delivery',
  'of',
])

interface NoMatchProps {
  /** Names the rows, in the plural. */
  noun: string
  children: ComponentChildren
}

/** Explains an empty list: its filters match nothing; a link leads to the list without them. */
export function NoMatch({ noun, children }: NoMatchProps) {
  const { page, id, query } = useHere()
  if ([...query.keys()].every((name) => NO_FILTERS.has(name))) return <>{children}</>
  return (
    <Empty>
      No {noun} match. <a href={linkTo(page, {}, id)}>Clear filters</a>
    </Empty>
  )
}

/** Says that there are no sessions in these days, where the newest are, and how others come. */
export function NoSessions() {
  const here = useHere()
  const filters = pick(here.query, 'project', 'member', 'model', 'agent', 'branch', 'ticket')
  const newest = useApi<Page<SessionListItem>>('/sessions', { ...filters, per_page: 1 })
  return (
    <Show loaded={newest} what="the newest session">
      {({ data: [session] }) => {
        const day = session && dayOfTime(session.created_at)
        if (day === undefined) {
          return (
            <NoMatch noun="sessions">
              <Empty command={syncCommand()}>
                No sessions yet. To send those that coding agents left on a disk:
              </Empty>
            </NoMatch>
          )
        }
        const there = linkHere(here, { page: undefined, range: undefined, from: addDays(day, -29), to: day })
        return (
          <Empty>
            No sessions match in these days; newest: <a href={there}>{formatDay(day)}</a>
          </Empty>
        )
      }}
    </Show>
  )
}

/** Says that there is nothing, and the command that changes it. */
export function Empty({ children, command }: { children: ComponentChildren; command?: string }) {
  return (
    <div class="empty">
      <p>{children}</p>
      {command !== undefined && (
        <pre>
          <code>{command}</code>
        </pre>
      )}
    </div>
  )
}

/** Keeps its content behind a click, and asks for it only then. */
export function Later({ summary, children }: Record<'summary' | 'children', ComponentChildren>) {
  const [isOpened, setOpened] = useState(false)
  return (
    <details onToggle={() => setOpened(true)}>
      <summary>{summary}</summary>
      {isOpened && children}
    </details>
  )
}
