// Settings for who sees badges and how they look, and the picture of a badge.

import { useEffect, useState } from 'preact/hooks'
import type { OrganizationSettings as Settings } from '../../features/organization/model.ts'
import { getJson, useApi } from '../client/api.ts'
import { linkTo, searchOf } from '../client/links.ts'
import { basePath } from '../client/server-url.ts'
import { Copied } from '../parts/copied.tsx'
import { Choice } from '../parts/fields.tsx'
import { Asked, Form, Input, Saying, useChanges } from '../parts/form.tsx'
import { Answer, Show } from '../parts/show.tsx'

export const BADGES = ['quality', 'security', 'cost'] as const

export function BadgeSettings() {
  const { count, said, run } = useChanges()
  const [token, setToken] = useState<string>()
  const settings = useApi<Settings>('/organization', {}, count)
  const change = (badges: object) =>
    run(() => getJson('/organization', { method: 'PATCH', body: { badges } }))
  const makeToken = async (): Promise<void> => {
    const badge = await run(
      () => getJson<{ token: string }>('/organization/badge-token', { method: 'POST' }),
      'The token before has ended',
    )
    setToken(badge?.token)
  }
  return (
    <>
      <Show loaded={settings} what="the badges' settings">
        {({ slug, badges }) => (
          <>
            <Answer>
              {badges.visibility === 'public' ? 'Everybody' : 'Who has the token'} sees the badges
            </Answer>
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

/** The settings that have a field for each of their names. */
const GROUPS = [
  { group: 'labels', labelOf: (name: string) => `Label of ${name}`, kind: { maxLength: 50 } },
  { group: 'colors', labelOf: (name: string) => `Color of ${name} values`, kind: {} },
  {
    group: 'thresholds',
    labelOf: (name: string) => `The least ${name} value`,
    kind: { type: 'number', min: 0, max: 100, step: 0.01 },
  },
] as const

type BadgeFormProps = { stored: Settings['badges']; change: (badges: object) => Promise<unknown> }

function BadgeForm({ stored, change }: BadgeFormProps) {
  const groups = GROUPS.map((each) => ({
    ...each,
    values: Object.entries<string | number>(stored[each.group]),
  }))
  return (
    <Form
      title="Appearance"
      send="Save"
      onSend={({ visibility, ...given }) => {
        const look = groups.map(({ group, values }) => {
          const read = ([name, before]: [string, string | number]) => {
            const value = given[`${group} ${name}`] ?? ''
            return [name, typeof before === 'number' ? Number(value) : value]
          }
          return [group, Object.fromEntries(values.map(read))]
        })
        return change({ visibility, ...Object.fromEntries(look) })
      }}
    >
      <Choice
        label="Who sees them"
        name="visibility"
        value={stored.visibility}
        options={[
          ['public', 'everybody'],
          ['private', 'who has the token'],
        ]}
      />
      {groups.flatMap(({ group, labelOf, kind, values }) =>
        values.map(([name, defaultValue]) => {
          const field = `${group} ${name}`
          return (
            <Input key={field} label={labelOf(name)} name={field} required {...{ defaultValue, ...kind }} />
          )
        }),
      )}
    </Form>
  )
}
