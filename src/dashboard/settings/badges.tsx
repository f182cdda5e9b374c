import { useState } from 'preact/hooks'
import type { OrganizationSettings as Settings } from '../../settings/organization-model.ts'
import { getJson, useLoaded } from '../client/api.ts'
import { basePath } from '../client/base.ts'
import { linkTo } from '../client/links.ts'
import { Asked } from '../parts/asked.tsx'
import { Copied } from '../parts/copied.tsx'
import { Choice } from '../parts/field.tsx'
import { Show } from '../parts/show.tsx'
import { Saying, useChanges } from './change.tsx'

const KINDS = ['quality', 'security', 'cost'] as const
const COLORS = ['good', 'medium', 'bad'] as const

/** Settings for who sees badges, and how they look. */
export function BadgeSettings() {
  const { count, said, run } = useChanges()
  const [token, setToken] = useState<string>()
  const settings = useLoaded(`badge settings ${count}`, (signal) =>
    getJson<Settings>('/organization', { signal }),
  )
  const change = (badges: object) =>
    run(() => getJson('/organization', { method: 'PATCH', body: { badges } }))
  const makeToken = async (): Promise<void> => {
    const made = await run(
      () => getJson<{ token: string }>('/organization/badge-token', { method: 'POST' }),
      'The token before has ended',
    )
    setToken(made?.token)
  }
  return (
    <>
      <Show loaded={settings} what="the badges' settings">
        {(value) => (
          <>
            <p class="preview">
              {KINDS.map((kind) => (
                <img
                  key={kind}
                  src={`${basePath()}api/badge/${value.slug}/${kind}?${new URLSearchParams({ label: value.badges.labels[kind], ...(token === undefined ? {} : { token }) })}`}
                  alt={`The ${kind} badge`}
                />
              ))}
            </p>
            <BadgeForm key={JSON.stringify(value.badges)} stored={value.badges} change={change} />
            <h2>Token for private badges</h2>
            <p class="actions">
              <Asked question="Make a new one? The old one ends" act={makeToken}>
                Make a token
              </Asked>
              {value.badges.token === true && (
                <Asked question="Remove it?" act={async () => void (await change({ token: null }))}>
                  Remove the token
                </Asked>
              )}
            </p>
          </>
        )}
      </Show>
      {token !== undefined && <Copied text={token} />}
      <Saying said={said} />
      <p class="note">
        <a href={linkTo('badges')}>Markdown and HTML of each badge</a>
      </p>
    </>
  )
}

interface BadgeFormProps {
  stored: Settings['badges']
  change: (badges: object) => Promise<unknown>
}

function BadgeForm({ stored, change }: BadgeFormProps) {
  const [visibility, setVisibility] = useState<string>(stored.visibility)
  const [labels, setLabels] = useState(stored.labels)
  const [colors, setColors] = useState(stored.colors)
  const [thresholds, setThresholds] = useState(stored.thresholds)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    await change({ visibility, labels, colors, thresholds })
  }
  return (
    <form class="settings" onSubmit={(event) => void submit(event)}>
      <h2>Appearance</h2>
      <Choice
        label="Who sees them"
        value={visibility}
        options={[
          ['public', 'everybody'],
          ['private', 'who has the token'],
        ]}
        onChange={setVisibility}
      />
      {KINDS.map((kind) => (
        <label key={kind}>
          Label of {kind}
          <input
            required
            maxLength={50}
            value={labels[kind]}
            onInput={({ currentTarget }) => setLabels({ ...labels, [kind]: currentTarget.value })}
          />
        </label>
      ))}
      {COLORS.map((part) => (
        <label key={part}>
          Color of {part} values
          <input
            required
            value={colors[part]}
            onInput={({ currentTarget }) => setColors({ ...colors, [part]: currentTarget.value })}
          />
        </label>
      ))}
      {(['good', 'medium'] as const).map((part) => (
        <label key={part}>
          The least {part} value
          <input
            type="number"
            required
            min={0}
            max={100}
            step={0.01}
            value={thresholds[part]}
            onInput={({ currentTarget }) =>
              setThresholds({ ...thresholds, [part]: Number(currentTarget.value) })
            }
          />
        </label>
      ))}
      <button type="submit">Save</button>
    </form>
  )
}
