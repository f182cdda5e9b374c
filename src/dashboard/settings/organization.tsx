import { useState } from 'preact/hooks'
import type { OrganizationSettings as Settings } from '../../settings/organization-model.ts'
import { getJson, request, useApi } from '../client/api.ts'
import { Choice } from '../parts/field.tsx'
import { Show } from '../parts/show.tsx'
import { Saying, useChanges } from './change.tsx'

/** Name, visibility, retention and tickets. */
export function OrganizationSettings() {
  const settings = useApi<Settings>('/organization')
  return (
    <Show loaded={settings} what="the organization">
      {(value) => <OrganizationForm stored={value} />}
    </Show>
  )
}

function OrganizationForm({ stored }: { stored: Settings }) {
  const { said, run } = useChanges()
  const [name, setName] = useState(stored.name)
  const [hidden, setHidden] = useState(String(stored.hide_members))
  const [visibility, setVisibility] = useState<string>(stored.member_visibility)
  const [days, setDays] = useState(String(stored.retention_sessions_days ?? ''))
  const [pattern, setPattern] = useState(stored.ticket_pattern)
  const [ignored, setIgnored] = useState(stored.ticket_ignore.join(', '))
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const body = {
      name,
      hide_members: hidden === 'true',
      member_visibility: visibility,
      retention_sessions_days: days === '' ? null : Number(days),
      ticket_pattern: pattern === '' ? null : pattern,
      ticket_ignore: ignored
        .split(',')
        .map((text) => text.trim())
        .filter((text) => text !== ''),
    }
    await run(() => getJson('/organization', { method: 'PATCH', body }))
  }
  return (
    <>
      <form class="settings" onSubmit={(event) => void submit(event)}>
        <h2>
          {stored.slug}, {stored.plan.replace('_', ' ')}
        </h2>
        <label>
          Name
          <input
            required
            maxLength={200}
            value={name}
            onInput={({ currentTarget }) => setName(currentTarget.value)}
          />
        </label>
        <Choice
          label="Who sees whom"
          value={visibility}
          options={[
            ['all', 'everybody sees everybody’s sessions and figures'],
            ['own', 'developers see only their own'],
          ]}
          onChange={setVisibility}
        />
        <Choice
          label="Members in answers to API keys"
          value={hidden}
          options={[
            ['false', 'shown'],
            ['true', 'only to keys with the scope team:read'],
          ]}
          onChange={setHidden}
        />
        <label>
          Sessions are deleted after so many days (empty: never)
          <input
            type="number"
            min={1}
            max={36500}
            step={1}
            value={days}
            onInput={({ currentTarget }) => setDays(currentTarget.value)}
          />
        </label>
        <label>
          How a ticket is written (a regular expression; empty: the default)
          <input value={pattern} onInput={({ currentTarget }) => setPattern(currentTarget.value)} />
        </label>
        <label>
          What looks like a ticket and is none
          <input value={ignored} onInput={({ currentTarget }) => setIgnored(currentTarget.value)} />
        </label>
        <button type="submit">Save</button>
      </form>
      <Saying said={said} />
      <GitHubSecret isSet={stored.github_secret_set} />
    </>
  )
}

function GitHubSecret({ isSet }: { isSet: boolean }) {
  const { said, run } = useChanges()
  const [secret, setSecret] = useState('')
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    const body = { github_secret: secret === '' ? null : secret }
    await run(() => request('/organization', { method: 'PATCH', body }), secret === '' ? 'Removed' : 'Saved')
    setSecret('')
  }
  return (
    <form class="settings" onSubmit={(event) => void submit(event)}>
      <h2>GitHub’s webhook</h2>
      <p class="note">
        {isSet ? 'A secret is set.' : 'No secret is set.'} It is stored encrypted and never shown.
      </p>
      <label>
        Secret (empty: remove it)
        <input
          type="password"
          autocomplete="off"
          maxLength={256}
          value={secret}
          onInput={({ currentTarget }) => setSecret(currentTarget.value)}
        />
      </label>
      <button type="submit">Save</button>
      <Saying said={said} />
    </form>
  )
}
