import { useState } from 'preact/hooks'
import type { WhoAmI } from '../whoami/model.ts'
import { basePath } from './client/base.ts'
import { postAuth, problemOf } from './client/session.ts'

/** Asks the signed-in person whether a machine may send their sessions: `cloud-analytics login`. */
export function DevicePage({ who }: { who: WhoAmI }) {
  const [code, setCode] = useState(new URLSearchParams(location.hash.slice(1)).get('code') ?? '')
  const [said, setSaid] = useState<{ text: string; isProblem: boolean }>()
  const answer = async (approve: boolean): Promise<void> => {
    const result = await postAuth('device/approve', { user_code: code, approve })
    if (result.status !== 204) return setSaid({ text: problemOf(result), isProblem: true })
    setSaid({
      text: approve ? 'Approved: the machine signs in within some seconds.' : 'Refused.',
      isProblem: false,
    })
  }
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
          <form
            onSubmit={(event) => {
              event.preventDefault()
              void answer(true)
            }}
          >
            <label>
              Code
              <input
                name="code"
                required
                autocomplete="off"
                placeholder="XXXX-XXXX"
                value={code}
                onInput={({ currentTarget }) => setCode(currentTarget.value)}
              />
            </label>
            <button type="submit">Approve</button>
            <button type="button" onClick={() => void answer(false)}>
              Refuse
            </button>
          </form>
        </>
      )}
      {said !== undefined && (
        <p class={said.isProblem ? 'failure' : 'good'} role={said.isProblem ? 'alert' : 'status'}>
          {said.text}
        </p>
      )}
      <p class="note">
        <a href={basePath() || './'}>To the dashboard</a>
      </p>
    </main>
  )
}
