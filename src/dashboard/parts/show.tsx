// Shows what a page loaded, that it is loading, why it failed or that it is empty; and the page's answer and facts.

import { type ComponentChildren, toChildArray } from 'preact'
import { useState } from 'preact/hooks'
import type { SessionListItem } from '../../features/sessions/model.ts'
import { type Loaded, MAX_RETRY_S, type Page, useApi } from '../client/api.ts'
import { addDays, dayOfTime } from '../client/days.ts'
import { formatDay, formatDuration } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { linkDays, useHere } from '../client/router.ts'
import { syncCommand } from '../client/server-url.ts'
import { pick } from './fields.tsx'
import { Button } from './form.tsx'

interface AnswerProps {
  /** The page's answer: a sentence. */
  children: ComponentChildren
  /** Defines the figures and says their limits. */
  soft?: ComponentChildren
}

/** The heading of a page is its answer. A sign stays with its dollars at the end of a line. */
export const Answer = ({ children, soft }: AnswerProps) => (
  <>
    <h1 class="answer">
      {toChildArray(children).map((child) =>
        typeof child === 'string' ? child.replaceAll(/(?<=[−+])(?=\$)/g, '\u2060') : child,
      )}
    </h1>
    {soft !== undefined && soft !== '' && soft !== false && <p class="soft">{soft}</p>}
  </>
)

interface AnswerOfProps<Value> extends Pick<AnswerProps, 'soft'> {
  loaded: Loaded<Value>
  /** The heading where nothing was loaded. */
  name: string
  children: (value: Value) => ComponentChildren
}

export function AnswerOf<Value>({ loaded, name, soft, children }: AnswerOfProps<Value>) {
  const value = loaded.value
  return <Answer soft={soft}>{value === undefined ? name : children(value)}</Answer>
}

interface ReadyProps {
  /** All that is asked for at first. */
  of: readonly Loaded<unknown>[]
  /** Whether the answer stands above. */
  isBelow?: boolean
  children: ComponentChildren
}

/** Shows a page, or what is below its answer, when all of it is there, so that nothing is moved by what comes later. */
export function Ready({ of, isBelow = false, children }: ReadyProps): ComponentChildren {
  if (of.every((loaded) => loaded.state !== 'loading' || loaded.value !== undefined)) return children
  return (
    <>
      {!isBelow && <h1 class="answer">…</h1>}
      <p class="note" role="status">
        Loading …
      </p>
    </>
  )
}

interface ShowProps<Value> {
  loaded: Loaded<Value>
  /** Names the value in the message while it is loaded. */
  what: string
  children: (value: Value) => ComponentChildren
}

/** The loaded value, or what became of it instead. The value before stays while the next is loaded. */
export function Show<Value>({ loaded, what, children }: ShowProps<Value>) {
  if (loaded.state === 'failed') return <Failure {...loaded} what={what} />
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

type FailureProps = Extract<Loaded<unknown>, { state: 'failed' }> & { what: string }

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
const NO_FILTERS = ['page', 'files', 'sort', 'order', 'by', 'and_by', 'against', 'top', 'delivery', 'of']

interface NoMatchProps {
  /** Names the rows, in the plural. */
  noun: string
  children: ComponentChildren
}

/** Explains an empty list: its filters match nothing; a link leads to the list without them. */
export function NoMatch({ noun, children }: NoMatchProps) {
  const { page, id, query } = useHere()
  if ([...query.keys()].every((name) => NO_FILTERS.includes(name))) return <>{children}</>
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
        const there = linkDays(here, { from: addDays(day, -29), to: day })
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

interface FactsProps {
  /** Few large figures, or many facts. */
  kind: 'totals' | 'facts'
  of: readonly (readonly [name: string, value: ComponentChildren])[]
}

/** Figures or facts with their names; those that are undefined are left out. */
export function Facts({ kind, of }: FactsProps) {
  return (
    <dl class={kind}>
      {of.map(([name, value]) =>
        value === undefined ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}
