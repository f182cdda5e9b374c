import { basePath } from './client/base.ts'
import { useFragment } from './client/router.ts'
import { postAuth, problemOf } from './client/session.ts'
import { apiKey } from './client/storage.ts'
import { Saying, useChanges } from './parts/change.tsx'
import { type Fields, Form, Input } from './parts/form.tsx'

const MIN_LENGTH = 12

/** Accepts an invitation, whose token is in the fragment: sets the password and signs in. */
export function AcceptPage() {
  const token = new URLSearchParams(useFragment().slice(1)).get('token') ?? ''
  return <Accept key={token} token={token} />
}

function Accept({ token }: { token: string }) {
  const { said, run } = useChanges()
  const accept = async ({ password, again }: Fields): Promise<void> => {
    if (password !== again) throw new Error('The two passwords differ')
    const answer = await postAuth('accept', { token, password })
    if (answer.status !== 204) throw new Error(problemOf(answer))
    apiKey.write(null)
    location.replace(basePath() || './')
  }
  return (
    <main class="sign-in">
      <h1>Welcome to Cloud Analytics</h1>
      <p>
        Choose a password of at least {MIN_LENGTH} characters. You sign in with it and your e-mail address.
      </p>
      <Form kind="" send="Set the password and sign in" onSend={(fields) => run(() => accept(fields))}>
        <Input
          label="Password"
          type="password"
          name="password"
          autocomplete="new-password"
          required
          minLength={MIN_LENGTH}
          maxLength={256}
        />
        <Input label="The same again" type="password" name="again" autocomplete="new-password" required />
      </Form>
      <Saying said={said} />
    </main>
  )
}
