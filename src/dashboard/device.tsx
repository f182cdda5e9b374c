import type { WhoAmI } from '../whoami/model.ts'
import { basePath } from './client/base.ts'
import { postAuth, problemOf } from './client/session.ts'
import { Saying, useChanges } from './parts/change.tsx'
import { Form, fieldsOf, Input } from './parts/form.tsx'

/** Asks the signed-in person whether a machine may send their sessions: `cloud-analytics login`. */
export function DevicePage({ who }: { who: WhoAmI }) {
  const code = new URLSearchParams(location.hash.slice(1)).get('code') ?? ''
  const { said, run } = useChanges()
  const answer = (user_code: string | undefined, approve: boolean) =>
    run(
      async () => {
        const result = await postAuth('device/approve', { user_code, approve })
        if (result.status !== 204) throw new Error(problemOf(result))
      },
      approve ? 'Approved: the machine signs in within some seconds.' : 'Refused.',
    )
  return (
    <main class="sign-in">
      <h1>Sign a machine in</h1>
      {who.member === null || who.key !== null ? (
        <p>An API key approves no machine: sign in with a password first.</p>
      ) : (
        <>
          <p>
            A machine asks to send coding sessions to <bdi>{who.organization.name}</bdi> as{' '}
            <bdi>{who.member.email}</bdi>. Approve only if it shows the same code, and you have just started{' '}
            <code>cloud-analytics login</code> there.
          </p>
          <Form
            kind=""
            send="Approve"
            onSend={({ user_code }) => answer(user_code, true)}
            buttons={
              <button
                type="button"
                onClick={({ currentTarget: { form } }) =>
                  form !== null && void answer(fieldsOf(form).user_code, false)
                }
              >
                Refuse
              </button>
            }
          >
            <Input
              label="Code"
              name="user_code"
              required
              autocomplete="off"
              placeholder="XXXX-XXXX"
              defaultValue={code}
            />
          </Form>
        </>
      )}
      <Saying said={said} />
      <p class="note">
        <a href={basePath() || './'}>To the dashboard</a>
      </p>
    </main>
  )
}
