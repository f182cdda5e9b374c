// The page `Settings` of the organization, a section at a time.

import type { ComponentType } from 'preact'
import { isAdmin, linkTo, type PageProps } from '../client/links.ts'
import { Answer } from '../parts/show.tsx'
import { BadgeSettings } from './badges.tsx'
import { KeySettings } from './keys.tsx'
import { MemberSettings } from './members.tsx'
import { OrganizationSettings } from './organization.tsx'
import { ServerSettings, SignInSettings } from './server.tsx'
import { TelemetrySettings } from './telemetry.tsx'

const SECTIONS: readonly { name: string; title: string; Content: ComponentType<PageProps> }[] = [
  { name: 'keys', title: 'API keys', Content: KeySettings },
  { name: 'members', title: 'Members', Content: MemberSettings },
  { name: 'badges', title: 'Badges', Content: BadgeSettings },
  { name: 'organization', title: 'Organization', Content: OrganizationSettings },
  { name: 'telemetry', title: 'Telemetry', Content: TelemetrySettings },
  { name: 'sign-in', title: 'Sign-in', Content: SignInSettings },
  { name: 'server', title: 'Server', Content: ServerSettings },
]

export function SettingsPage({ who, route }: PageProps) {
  const mayUse = isAdmin(who) || (who.key === null && who.member?.role === 'developer')
  if (!mayUse) {
    return <Answer>Settings need an owner or admin who signed in, or a key with the scope admin</Answer>
  }
  const sections = isAdmin(who) ? SECTIONS : SECTIONS.slice(0, 1)
  const shown = sections.find(({ name }) => name === route.id) ?? sections[0]
  if (shown === undefined) return null
  return (
    <>
      <nav class="sections" aria-label="Settings">
        {sections.map(({ name, title }) => (
          <a
            key={name}
            href={linkTo('settings', {}, name)}
            aria-current={name === shown.name ? 'page' : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      <shown.Content who={who} route={route} />
    </>
  )
}
