// The page `Badges`: chooses a badge, shows it, and gives the Markdown that embeds it.

import { useState } from 'preact/hooks'
import { linkTo, type PageProps, searchOf } from '../client/links.ts'
import { basePath } from '../client/server-url.ts'
import { Copied } from '../parts/copied.tsx'
import { Choice, Field, FilterForm, named } from '../parts/fields.tsx'
import { Answer } from '../parts/show.tsx'
import { BADGES, BadgePicture } from '../settings/badges.tsx'

const STYLES = ['flat', 'flat-square', 'plastic', 'for-the-badge', 'social'] as const

export function BadgesPage({ who }: PageProps) {
  const [kind, setKind] = useState<string>('quality')
  /** Parameters of the badge's URL: those with their usual value are left out. */
  const [look, setLook] = useState({ style: 'flat', label: '', project: '', days: '30', token: '' })
  const given = {
    ...look,
    style: look.style === 'flat' ? '' : look.style,
    days: look.days === '30' ? '' : look.days,
  }
  const path = `${basePath()}api/badge/${who.organization.slug}/${kind}${searchOf(given)}`
  const url = new URL(path, location.href.split('#')[0]).href
  const field = (name: keyof typeof look, label: string, isNumber = false) => (
    <Field
      label={label}
      isNumber={isNumber}
      value={look[name]}
      onChange={(value) => setLook({ ...look, [name]: value })}
    />
  )
  return (
    <>
      <Answer soft="Choose one, and paste its line into the README of a project.">
        A badge shows quality, security or cost of the last {given.days || 30} days
        {look.project && ` of ${look.project}`}
      </Answer>
      <FilterForm>
        <Choice label="Badge" value={kind} options={named(BADGES)} onChange={setKind} />
        <Choice
          label="Style"
          value={look.style}
          options={named(STYLES)}
          onChange={(style) => setLook({ ...look, style })}
        />
        {field('label', 'Label')}
        {field('project', 'Project')}
        {field('days', 'Days, 1 to 365', true)}
        {field('token', 'Token (private badges only)')}
      </FilterForm>
      <p class="preview">
        <BadgePicture src={path} alt={`The ${kind} badge`} />
      </p>
      <p class="note">
        A grey “unknown” means that badges are private and the token is missing or wrong. Who sees them, and
        how they look: <a href={linkTo('settings', {}, 'badges')}>settings</a>.
      </p>
      <h2>Markdown</h2>
      <Copied text={`![${kind}](${url})`} />
      <h2>HTML</h2>
      <Copied text={`<img src="${url.replaceAll('&', '&amp;')}" alt="${kind}">`} />
    </>
  )
}
