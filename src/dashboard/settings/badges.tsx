import { useEffect, useState } from 'preact/hooks'
import type { OrganizationSettings as Settings } from '../../features/organization/model.ts'
import { getJson, useApi } from '../client/api.ts'
import { basePath } from '../client/base.ts'
import { linkTo, searchOf } from '../client/links.ts'
import { Asked } from '../parts/asked.tsx'
import { Saying, useChanges } from '../parts/change.tsx'
import { Copied } from '../parts/copied.tsx'
import { Choice } from '../parts/field.tsx'
import { Form, Input } from '../parts/form.tsx'
import { Show } from '../parts/show.tsx'

export const BADGES = ['quality', 'security', 'cost'] as const
const COLORS = ['good', 'medium', 'bad'] as const
const THRESHOLDS = ['good', 'medium'] as const

/** Settings for who sees badges, and how they look. */
export function BadgeSettings() {
  const { count, said, run } = useChanges()
  const [token, setToken] = useState<string>()
  const settings = useApi<Settings>('/organization', {}, count)
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
        {({ slug, badges }) => (
          <>
            <p class="preview">
              {BADGES.map((kind) => (
                <BadgePicture
                  key={kind}
                  src={`${basePath()}api/badge/${slug}/${kind}${searchOf({ label: badges.labels[kind], token })}`}
                  alt={`The ${kind} badge`}
                  look={JSON.stringify(badges)}
                />
              ))}
            </p>
            <BadgeForm key={JSON.stringify(badges)} stored={badges} change={change} />
            <h2>Token for private badges</h2>
            <p class="actions">
              <Asked question="Make a new one? The old one ends" act={makeToken}>
                Make a token
              </Asked>
              {badges.token === true && (
                <Asked question="Remove it?" act={() => change({ token: null })}>
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

/**
 * A badge as it is now: browsers keep one for minutes. It is asked for again where its URL or `look` changes, and the fragment
 * has the page take what came.
 */
export function BadgePicture({ src, alt, look = '' }: { src: string; alt: string; look?: string }) {
  const [shown, setShown] = useState<string>()
  useEffect(() => {
    let isCurrent = true
    const show = () => {
      if (isCurrent) setShown(`${src}#${Date.now()}`)
    }
    void fetch(src, { cache: 'reload' }).then(show, show)
    return () => {
      isCurrent = false
    }
  }, [src, look])
  return <img src={shown} alt={alt} />
}

interface BadgeFormProps {
  stored: Settings['badges']
  change: (badges: object) => Promise<unknown>
}

function BadgeForm({ stored: { visibility, labels, colors, thresholds }, change }: BadgeFormProps) {
  return (
    <Form
      title="Appearance"
      send="Save"
      onSend={(fields) => {
        const given = <Name extends string>(names: readonly Name[], of: string) =>
          names.map((name) => [name, fields[`${of} ${name}`] ?? ''] as const)
        return change({
          visibility: fields.visibility,
          labels: Object.fromEntries(given(BADGES, 'label')),
          colors: Object.fromEntries(given(COLORS, 'color')),
          thresholds: Object.fromEntries(
            given(THRESHOLDS, 'least').map(([name, value]) => [name, Number(value)]),
          ),
        })
      }}
    >
      <Choice
        label="Who sees them"
        name="visibility"
        value={visibility}
        options={[
          ['public', 'everybody'],
          ['private', 'who has the token'],
        ]}
      />
      {BADGES.map((kind) => (
        <Input
          key={kind}
          label={`Label of ${kind}`}
          name={`label ${kind}`}
          required
          maxLength={50}
          defaultValue={labels[kind]}
        />
      ))}
      {COLORS.map((part) => (
        <Input
          key={part}
          label={`Color of ${part} values`}
          name={`color ${part}`}
          required
          defaultValue={colors[part]}
        />
      ))}
      {THRESHOLDS.map((part) => (
        <Input
          key={part}
          label={`The least ${part} value`}
          name={`least ${part}`}
          type="number"
          required
          min={0}
          max={100}
          step={0.01}
          defaultValue={thresholds[part]}
        />
      ))}
    </Form>
  )
}
