import { useState } from 'preact/hooks'
import { basePath } from './client/base.ts'
import { forgetKey } from './client/key.ts'
import { postAuth, problemOf } from './client/session.ts'

const MIN_LENGTH = 12

/** Accepts an invitation, whose token is in the fragment: sets the password and signs in. */
export function AcceptPage() {
  const token = new URLSearchParams(location.hash.slice(1)).get('token') ?? ''
  const [password, setPassword] = useState('')
  const [again, setAgain] = useState('')
  const [problem, setProblem] = useState<string>()
  const [isBusy, setBusy] = useState(false)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    if (password !== again) return setProblem('The two passwords differ')
    setBusy(true)
    const answer = await postAuth('accept', { token, password })
    setBusy(false)
    if (answer.status !== 204) return setProblem(problemOf(answer))
    forgetKey()
    location.replace(basePath() || './')
  }
  return (
    <main class="sign-in">
      <h1>Welcome to Cloud Analytics</h1>
      <p>
        Choose a password of at least {MIN_LENGTH} characters. You sign in with it and your e-mail address.
      </p>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          Password
          <input
            type="password"
            name="password"
            autocomplete="new-password"
            required
            minLength={MIN_LENGTH}
            maxLength={256}
            value={password}
            onInput={({ currentTarget }) => setPassword(currentTarget.value)}
          />
        </label>
        <label>
          The same again
          <input
            type="password"
            name="again"
            autocomplete="new-password"
            required
            value={again}
            onInput={({ currentTarget }) => setAgain(currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={isBusy}>
          Set the password and sign in
        </button>
      </form>
      {problem !== undefined && (
        <p class="failure" role="alert">
          {problem}
        </p>
      )}
    </main>
  )
}
