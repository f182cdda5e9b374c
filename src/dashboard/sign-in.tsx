import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiFailure, request } from './client/api.ts'
import { basePath } from './client/base.ts'
import { keepKey } from './client/key.ts'

interface SignInProps {
  /** Why the key before is not used any more. */
  reason: string | undefined
  onKey: (key: string) => void
}

/** Asks for an API key, and keeps it for the tab when the server knows it. */
export function SignIn({ reason, onKey }: SignInProps) {
  const [key, setKey] = useState('')
  const [problem, setProblem] = useState(reason)
  const [isBusy, setBusy] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  // also after signing out, where what had the focus is gone
  useEffect(() => field.current?.focus(), [])
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const given = key.trim()
    setBusy(true)
    try {
      await request('/whoami', { key: given })
      keepKey(given)
      onKey(given)
    } catch (error) {
      setProblem(error instanceof ApiFailure ? error.message : 'This is no API key')
      setBusy(false)
    }
  }
  return (
    <main class="sign-in">
      <h1>Cloud Analytics</h1>
      <p>
        What your organization’s AI coding sessions cost, how good and how safe they were, and who works on
        what.
      </p>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          API key
          <input
            ref={field}
            type="password"
            name="key"
            autocomplete="off"
            required
            spellcheck={false}
            placeholder="ca_live_…"
            value={key}
            aria-describedby="key-help"
            onInput={({ currentTarget }) => setKey(currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={isBusy}>
          Sign in
        </button>
        {problem !== undefined && (
          <p class="failure" role="alert">
            {problem}
          </p>
        )}
      </form>
      <p id="key-help" class="note">
        The key stays in this tab. It needs the scope <code>read</code>; webhooks need <code>webhooks</code>.
        To make one:
      </p>
      <pre>
        <code>cloud-analytics key create --org SLUG --name dashboard --scopes read,webhooks</code>
      </pre>
      <p class="note">
        The same figures for programs: <a href={`${basePath()}docs`}>the API</a>
      </p>
    </main>
  )
}
