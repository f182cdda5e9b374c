import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiFailure, request } from './client/api.ts'
import { basePath } from './client/base.ts'
import { keepKey } from './client/key.ts'
import { keepPlace, postAuth, problemOf, readMethods, type SignInMethods } from './client/session.ts'

interface SignInProps {
  /** Explains why nobody is signed in any more. */
  reason: string | undefined
  onSignedIn: () => void
}

/** Signs in by address and password, for all tabs, or by an API key, for this one. */
export function SignIn({ reason, onSignedIn }: SignInProps) {
  const [problem, setProblem] = useState(reason)
  useEffect(() => setProblem(reason), [reason])
  const [methods, setMethods] = useState<SignInMethods>()
  useEffect(() => {
    // a server that does not respond is asked again when somebody signs in by a password
    readMethods().then(setMethods, () => setMethods({ password: true, oidc: false }))
  }, [])
  return (
    <main class="sign-in">
      <h1>Cloud Analytics</h1>
      <p>
        What your organization’s AI coding sessions cost, how good and how safe they were, and who works on
        what.
      </p>
      {methods?.oidc && (
        <p>
          <a class="button" href={`${basePath()}auth/oidc`} onClick={keepPlace}>
            Sign in with your organization’s account
          </a>
        </p>
      )}
      {methods?.password && <PasswordForm onSignedIn={onSignedIn} onProblem={setProblem} />}
      {problem !== undefined && (
        <p class="failure" role="alert">
          {problem}
        </p>
      )}
      {methods?.password && (
        <p class="note">
          No password yet, or forgotten? An owner or admin of your organization makes a link for you.
        </p>
      )}
      <details>
        <summary>Sign in with an API key</summary>
        <KeyForm onSignedIn={onSignedIn} onProblem={setProblem} />
      </details>
      <p class="note">
        The same figures for programs: <a href={`${basePath()}docs`}>the API</a>
      </p>
    </main>
  )
}

interface FormProps {
  onSignedIn: () => void
  onProblem: (problem: string | undefined) => void
}

function PasswordForm({ onSignedIn, onProblem }: FormProps) {
  const [email, setEmail] = useState('')
  const [password, setPassword] = useState('')
  const [organizations, setOrganizations] = useState<{ slug: string; name: string }[]>([])
  const [isBusy, setBusy] = useState(false)
  const field = useRef<HTMLInputElement>(null)
  // the element that had the focus is gone after signing out
  useEffect(() => field.current?.focus(), [])
  const signIn = async (organization?: string): Promise<void> => {
    setBusy(true)
    onProblem(undefined)
    const body = { email: email.trim(), password, ...(organization === undefined ? {} : { organization }) }
    const answer = await postAuth('password', body)
    setBusy(false)
    if (answer.status === 204) return onSignedIn()
    if (answer.status !== 200) return onProblem(problemOf(answer))
    setOrganizations(answer.body.organizations as { slug: string; name: string }[])
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        void signIn()
      }}
    >
      <label>
        E-mail
        <input
          ref={field}
          type="email"
          name="email"
          autocomplete="username"
          required
          value={email}
          onInput={({ currentTarget }) => setEmail(currentTarget.value)}
        />
      </label>
      <label>
        Password
        <input
          type="password"
          name="password"
          autocomplete="current-password"
          required
          value={password}
          onInput={({ currentTarget }) => setPassword(currentTarget.value)}
        />
      </label>
      {organizations.length === 0 ? (
        <button type="submit" disabled={isBusy}>
          Sign in
        </button>
      ) : (
        <fieldset>
          <legend>Which organization?</legend>
          {organizations.map(({ slug, name }) => (
            <button key={slug} type="button" disabled={isBusy} onClick={() => void signIn(slug)}>
              {name}
            </button>
          ))}
        </fieldset>
      )}
    </form>
  )
}

/** Keeps the key for the tab when the server knows it. */
function KeyForm({ onSignedIn, onProblem }: FormProps) {
  const [key, setKey] = useState('')
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const given = key.trim()
    try {
      await request('/whoami', { key: given })
      keepKey(given)
      onSignedIn()
    } catch (error) {
      onProblem(error instanceof ApiFailure ? error.message : 'This is no API key')
    }
  }
  return (
    <>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          API key
          <input
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
        <button type="submit">Use this key</button>
      </form>
      <p id="key-help" class="note">
        The key stays in this tab. To make one at the server:
      </p>
      <pre>
        <code>cloud-analytics key create --org SLUG --name dashboard --scopes read,webhooks</code>
      </pre>
    </>
  )
}
