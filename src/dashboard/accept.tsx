import { useFragment } from './client/router.ts'
import { enter } from './client/session.ts'
import { Saying, useChanges } from './parts/change.tsx'
import { type Fields, Form, Input, MIN_PASSWORD_LENGTH, NewPassword } from './parts/form.tsx'

/** Accepts an invitation, whose token is in the fragment: sets the password and signs in. */
export function AcceptPage() {
  const token = new URLSearchParams(useFragment().slice(1)).get('token') ?? ''
  return <Accept key={token} token={token} />
}

function Accept({ token }: { token: string }) {
  const { said, run } = useChanges()
  const accept = async ({ password, again }: Fields): Promise<void> => {
    if (password !== again) throw new Error('The two passwords differ')
    await enter('accept', { token, password })
  }
  return (
    <main class="sign-in">
      <h1>Welcome to Cloud Analytics</h1>
      <p>
        Choose a password of at least {MIN_PASSWORD_LENGTH} characters. You sign in with it and your e-mail
        address.
      </p>
      <Form kind="" send="Set the password and sign in" onSend={(fields) => run(() => accept(fields))}>
        <NewPassword label="Password" />
        <Input label="The same again" type="password" name="again" autocomplete="new-password" required />
      </Form>
      <Saying said={said} />
    </main>
  )
}
