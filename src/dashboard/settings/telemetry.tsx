// A section of the settings: makes keys by which coding agents send telemetry, with the settings to paste.

import { useState } from 'preact/hooks'
import { settingsOf, TELEMETRY_AGENTS } from '../../analysis/telemetry/agent-settings.ts'
import type { CreatedKey } from '../../features/keys/model.ts'
import { getJson } from '../client/api.ts'
import { linkTo } from '../client/links.ts'
import { serverUrl } from '../client/server-url.ts'
import { Copied } from '../parts/copied.tsx'
import { Choice, named } from '../parts/fields.tsx'
import { Form, Input, Saying, useChanges } from '../parts/form.tsx'
import { Answer } from '../parts/show.tsx'

export function TelemetrySettings() {
  const { said, run } = useChanges()
  const [made, setMade] = useState<{ agent: (typeof TELEMETRY_AGENTS)[number]; key: string }>()
  const make = async (fields: { agent?: string; member?: string }): Promise<void> => {
    const agent = TELEMETRY_AGENTS.find((name) => name === fields.agent) ?? TELEMETRY_AGENTS[0]
    const body = { name: `telemetry of ${agent}`, scopes: ['ingest'], member: fields.member || undefined }
    const created = await run(() => getJson<CreatedKey>('/keys', { method: 'POST', body }), 'Made')
    if (created !== undefined) setMade({ agent, key: created.key })
  }
  return (
    <>
      <Answer
        soft={
          <>
            No prompts, arguments or outputs are kept. Transcripts say more, and win where both are known.{' '}
            <a href={linkTo('devices')}>What arrives</a>
          </>
        }
      >
        An agent with these settings sends tokens, cost and calls of tools while it works
      </Answer>
      <Form send="Make a key with its settings" onSend={make}>
        <Choice label="Agent" name="agent" value="claude-code" options={named(TELEMETRY_AGENTS)} />
        <Input
          label="Only for the sessions of (e-mail; empty: whom the agent names)"
          name="member"
          type="email"
        />
      </Form>
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
