// The page on which a signed-in person approves that a machine sends their sessions (`cloud-analytics login`).

import { useState } from 'preact/hooks'
import type { WhoAmI } from '../features/whoami/model.ts'
import { useLoaded } from './client/api.ts'
import { getAuth, postAuth, problemOf } from './client/auth.ts'
import { formatTime } from './client/format.ts'
import { parameterOf } from './client/router.ts'
import { basePath } from './client/server-url.ts'
import { Form, fieldsOf, Input, Saying, useChanges } from './parts/form.tsx'

/** Describes the machine that waits with this code; an empty text while the code is not whole, or its machine not known. */
function useMachine(code: string): string {
  const loaded = useLoaded(`machine ${code}`, async () => {
    if (!/^([A-Za-z][^A-Za-z]*){8}$/.test(code)) return ''
    const result = await getAuth(`device?user_code=${encodeURIComponent(code)}`)
    const { name, ip_address, requested_at } = result.body
    return result.status === 200
      ? `${name}, from ${ip_address ?? 'an unknown address'}, at ${formatTime(String(requested_at))} UTC`
      : problemOf(result)
  })
  return loaded.state === 'ready' ? loaded.value : ''
}

export function DevicePage({ who }: { who: WhoAmI }) {
  const [code, setCode] = useState(parameterOf('code'))
  const machine = useMachine(code)
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
          <p aria-live="polite">
            <bdi>{machine}</bdi>
          </p>
          <Form
            kind=""
            send="Approve"
            onInput={({ user_code = '' }) => setCode(user_code)}
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
              defaultValue={parameterOf('code')}
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
