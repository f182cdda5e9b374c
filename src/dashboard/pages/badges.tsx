import { useState } from 'preact/hooks'
import { basePath } from '../client/base.ts'
import { linkTo } from '../client/links.ts'
import type { PageProps } from '../client/page-props.ts'
import { Copied } from '../parts/copied.tsx'
import { Choice, Field, named } from '../parts/field.tsx'

const KINDS = ['quality', 'security', 'cost'] as const
const STYLES = ['flat', 'flat-square', 'plastic', 'for-the-badge', 'social'] as const

/** Chooses a badge, shows it, and gives the Markdown that embeds it. */
export function BadgesPage({ who }: PageProps) {
  const [kind, setKind] = useState<string>('quality')
  const [style, setStyle] = useState<string>('flat')
  const [label, setLabel] = useState('')
  const [project, setProject] = useState('')
  const [days, setDays] = useState('30')
  const [token, setToken] = useState('')
  const search = new URLSearchParams()
  const given = {
    style: style === 'flat' ? '' : style,
    label,
    project,
    days: days === '30' ? '' : days,
    token,
  }
  for (const [name, value] of Object.entries(given)) if (value !== '') search.set(name, value)
  const path = `${basePath()}api/badge/${who.organization.slug}/${kind}${search.size === 0 ? '' : `?${search}`}`
  const url = new URL(path, location.href.split('#')[0]).href
  const markdown = `![${kind}](${url})`
  return (
    <>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <Choice label="Badge" value={kind} options={named(KINDS)} onChange={setKind} />
        <Choice label="Style" value={style} options={named(STYLES)} onChange={setStyle} />
        <Field label="Label" value={label} onChange={setLabel} />
        <Field label="Project" value={project} onChange={setProject} />
        <Field label="Days" isNumber step={1} min={1} max={365} value={days} onChange={setDays} />
        <Field label="Token, where badges are private" value={token} onChange={setToken} />
      </form>
      <p class="preview">
        <img src={path} alt={`The ${kind} badge`} />
      </p>
      <p class="note">
        A grey “unknown” means that badges are private and the token is missing or wrong. Who sees them, and
        how they look: <a href={linkTo('settings', {}, 'badges')}>settings</a>.
      </p>
      <h2>Markdown</h2>
      <Copied text={markdown} />
      <h2>HTML</h2>
      <Copied text={`<img src="${url.replaceAll('&', '&amp;')}" alt="${kind}">`} />
    </>
  )
}
