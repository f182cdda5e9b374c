import { useState } from 'preact/hooks'
import type { CreatedKey } from '../../settings/key-model.ts'
import { settingsOf, TELEMETRY_AGENTS, type TelemetryAgent } from '../../telemetry/agent-settings.ts'
import { getJson } from '../client/api.ts'
import { serverUrl } from '../client/base.ts'
import { linkTo } from '../client/links.ts'
import { Copied } from '../parts/copied.tsx'
import { Saying, useChanges } from './change.tsx'

/** Makes keys by which coding agents send telemetry, with the settings to paste. */
export function TelemetrySettings() {
  const { said, run } = useChanges()
  const [agent, setAgent] = useState<TelemetryAgent>('claude-code')
  const [member, setMember] = useState('')
  const [made, setMade] = useState<{ agent: TelemetryAgent; key: string }>()
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const address = member.trim()
    const body = {
      name: `telemetry of ${agent}`,
      scopes: ['ingest'],
      ...(address === '' ? {} : { member: address }),
    }
    const created = await run(() => getJson<CreatedKey>('/keys', { method: 'POST', body }), 'Made')
    if (created !== undefined) setMade({ agent, key: created.key })
  }
  return (
    <>
      <p class="note">
        An agent with these settings sends tokens, cost and calls of tools while it works: no prompts,
        arguments or outputs are kept. Transcripts say more, and win where both are known.{' '}
        <a href={linkTo('devices')}>What arrives</a>
      </p>
      <form class="settings" onSubmit={(event) => void submit(event)}>
        <h2>Send telemetry</h2>
        <label>
          Agent
          <select
            value={agent}
            onChange={({ currentTarget }) => setAgent(currentTarget.value as TelemetryAgent)}
          >
            {TELEMETRY_AGENTS.map((name) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <label>
          Only for the sessions of (e-mail; empty: whom the agent names)
          <input
            type="email"
            value={member}
            onInput={({ currentTarget }) => setMember(currentTarget.value)}
          />
        </label>
        <button type="submit">Make a key with its settings</button>
      </form>
      <Saying said={said} />
      {made !== undefined && (
        <section>
          <h2>Settings of {made.agent}, with a key that is shown only now</h2>
          {settingsOf(made.agent, serverUrl(), made.key).map(({ place, text }) => (
            <div key={place}>
              <h3>{place}</h3>
              <Copied text={text} />
            </div>
          ))}
        </section>
      )}
    </>
  )
}
