import type { ComponentChildren } from 'preact'
import type { ApiFailure, Loaded } from '../client/api.ts'

interface ShowProps<Value> {
  loaded: Loaded<Value>
  /** What is loaded, for the message while it is. */
  what: string
  children: (value: Value) => ComponentChildren
}

/** The loaded value, or what became of it instead. The value before stays while the next is loaded. */
export function Show<Value>({ loaded, what, children }: ShowProps<Value>) {
  if (loaded.state === 'failed') return <Failure error={loaded.error} what={what} />
  if (loaded.state === 'ready') return <>{children(loaded.value)}</>
  if (loaded.value !== undefined) return <div class="stale">{children(loaded.value)}</div>
  return (
    <p class="note" role="status">
      Loading {what} …
    </p>
  )
}

function Failure({ error, what }: { error: ApiFailure; what: string }) {
  const { status, message, retryAfterS } = error
  if (status === 403)
    return (
      <p class="note">
        This key may not read {what}: {message}
      </p>
    )
  return (
    <p class="note failure" role="alert">
      {message}
      {retryAfterS !== undefined && ` — trying again in ${retryAfterS} s`}
    </p>
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
