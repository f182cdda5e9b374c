import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { WhoAmI } from '../features/whoami/model.ts'
import { AcceptPage } from './accept.tsx'
import { AlertsPage } from './alerts/alerts.tsx'
import { DigestsPage, WeekPage } from './alerts/digests.tsx'
import { ApiFailure, getJson, KEY_REFUSED } from './client/api.ts'
import { basePath, pageName } from './client/base.ts'
import { useTimeZone } from './client/days.ts'
import { linkTo } from './client/links.ts'
import { forgetLists } from './client/lists.ts'
import { startLive } from './client/live.ts'
import type { PageProps } from './client/page-props.ts'
import { Here, useRoute } from './client/router.ts'
import { keepCsrfToken, postAuth, returnToPlace } from './client/session.ts'
import { apiKey } from './client/storage.ts'
import { forgetWho, keepWho, keptWho, signedBy } from './client/who.ts'
import { DevicePage } from './device.tsx'
import { OverviewPage } from './overview/overview.tsx'
import { AuditPage } from './pages/audit.tsx'
import { BadgesPage } from './pages/badges.tsx'
import { CostPage } from './pages/cost.tsx'
import { FindingsPage } from './pages/findings.tsx'
import { OutcomesPage } from './pages/outcomes.tsx'
import { MePage, PersonPage } from './pages/person.tsx'
import { PullRequestPage } from './pages/pull-request.tsx'
import { PullRequestsPage } from './pages/pull-requests.tsx'
import { QualityPage } from './pages/quality.tsx'
import { SecurityPage } from './pages/security.tsx'
import { TeamPage } from './pages/team.tsx'
import { messageOf } from './parts/change.tsx'
import { Choice, named } from './parts/field.tsx'
import { Button } from './parts/form.tsx'
import { Palette } from './parts/palette.tsx'
import { SessionPage } from './sessions/session.tsx'
import { SessionsPage } from './sessions/sessions.tsx'
import { DevicesPage } from './settings/devices.tsx'
import { SettingsPage } from './settings/settings.tsx'
import { SetupPage } from './setup.tsx'
import { SignIn } from './sign-in.tsx'
import { applyTheme, readTheme, THEMES } from './theme.ts'
import { EndpointPage } from './webhooks/webhook.tsx'
import { WebhooksPage } from './webhooks/webhooks.tsx'

interface Listed {
  page: string
  name: string
  Content: ComponentType<PageProps>
  /** One of the things that the page lists, when the URL names it. */
  One?: ComponentType<{ id: string }>
  isInMenu?: true
}

/** The header's line links to these; its menu has pages that are looked for less. */
const PAGES: readonly Listed[] = [
  { page: '', name: 'Overview', Content: OverviewPage },
  { page: 'me', name: 'Me', Content: MePage },
  { page: 'cost', name: 'Cost', Content: CostPage },
  { page: 'sessions', name: 'Sessions', Content: SessionsPage, One: SessionPage },
  { page: 'quality', name: 'Quality', Content: QualityPage },
  { page: 'security', name: 'Security', Content: SecurityPage },
  { page: 'findings', name: 'Findings', Content: FindingsPage },
  { page: 'team', name: 'Team', Content: TeamPage, One: PersonPage },
  { page: 'pull-requests', name: 'Pull requests', Content: PullRequestsPage, One: PullRequestPage },
  { page: 'outcomes', name: 'Outcomes', Content: OutcomesPage },
  { page: 'week', name: 'This week', Content: WeekPage, isInMenu: true },
  { page: 'alerts', name: 'Alerts', Content: AlertsPage, isInMenu: true },
  { page: 'digests', name: 'Digests', Content: DigestsPage, isInMenu: true },
  { page: 'devices', name: 'Devices', Content: DevicesPage, isInMenu: true },
  { page: 'audit', name: 'Audit', Content: AuditPage, isInMenu: true },
  { page: 'webhooks', name: 'Webhooks', Content: WebhooksPage, One: EndpointPage, isInMenu: true },
  { page: 'badges', name: 'Badges', Content: BadgesPage, isInMenu: true },
  { page: 'settings', name: 'Settings', Content: SettingsPage, isInMenu: true },
]

/** The person who is signed in: null while nobody is, undefined while that is not known. */
type Signed = WhoAmI | null | undefined

/** The dashboard: a sign-in until there is a session or a key, then the page that the URL names. */
export function App() {
  const [who, setWho] = useState<Signed>(undefined)
  const [reason, setReason] = useState<string>()
  const signIn = async (given?: WhoAmI): Promise<void> => {
    try {
      const by = signedBy()
      const found = given ?? (await getJson<WhoAmI>('/whoami'))
      if (given === undefined) keepWho(found, by)
      keepCsrfToken(found.csrf_token)
      useTimeZone(found.organization.time_zone)
      setReason(undefined)
      if (returnToPlace()) return
      setWho(found)
    } catch (error) {
      const isRefused = error instanceof ApiFailure && error.status === 401
      if (!isRefused) setReason(messageOf(error))
      setWho(null)
    }
  }
  const leave = (why?: string) => {
    apiKey.write(null)
    forgetWho()
    forgetLists()
    setReason(why)
    setWho(null)
  }
  const signOut = async (): Promise<void> => {
    if (who?.key === null) await postAuth('logout', {})
    leave()
  }
  useEffect(() => void signIn(keptWho()), [])
  useEffect(() => {
    if (who === null || who === undefined) return
    const onRefused = (event: Event) =>
      leave(`Signed out: ${event instanceof CustomEvent ? String(event.detail) : 'the key was refused'}`)
    addEventListener(KEY_REFUSED, onRefused)
    return () => removeEventListener(KEY_REFUSED, onRefused)
  }, [who])
  if (pageName() === 'accept') return <AcceptPage />
  if (pageName() === 'setup') return <SetupPage />
  if (who === undefined) {
    return (
      <main class="sign-in">
        <p role="status">Loading …</p>
      </main>
    )
  }
  if (who === null) return <SignIn reason={reason} onSignedIn={(found) => void signIn(found)} />
  if (pageName() === 'device') return <DevicePage who={who} />
  return <SignedIn who={who} signOut={() => void signOut()} />
}

function SignedIn({ who, signOut }: { who: WhoAmI; signOut: () => void }) {
  const route = useRoute()
  const shown = PAGES.find(({ page }) => page === route.page)
  const title = shown?.name ?? 'Not found'
  const pages = PAGES.filter(({ page }) => page !== 'me' || who.member !== null)
  const pageLink = ({ page, name }: Listed) => (
    <a key={page} href={linkTo(page)} aria-current={page === route.page ? 'page' : undefined}>
      {name}
    </a>
  )
  // begun before the page asks for its data: no change between the two is missed
  const [live] = useState(() => {
    const controller = new AbortController()
    startLive(who.organization.id, who.limits.read, controller.signal)
    return controller
  })
  useEffect(() => () => live.abort(), [])
  useEffect(() => {
    document.title = `${title} · Cloud Analytics`
    // in a narrow window the line of pages is scrolled
    document.querySelector('header > nav [aria-current]')?.scrollIntoView({ block: 'nearest' })
  }, [title])
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('content')?.focus()}>
        To the content
      </button>
      <header>
        <p class="brand">
          <a href={linkTo('')}>Cloud Analytics</a>
        </p>
        <nav aria-label="Pages">{pages.filter(({ isInMenu }) => isInMenu !== true).map(pageLink)}</nav>
        <Palette pages={pages} />
        <Menu name={who.organization.name} page={route.page}>
          {who.member != null && (
            <p class="note">
              <bdi>{who.member.email}</bdi>
            </p>
          )}
          <nav aria-label="More pages">
            {PAGES.filter(({ isInMenu }) => isInMenu === true).map(pageLink)}
            <a href={`${basePath()}docs`}>API</a>
          </nav>
          <ThemeChooser />
          <Button act={signOut}>Sign out</Button>
        </Menu>
      </header>
      <main id="content" tabIndex={-1}>
        <h1>{title}</h1>
        {shown === undefined ? (
          <p class="note">
            There is no such page. <a href={linkTo('')}>To the overview</a>
          </p>
        ) : (
          <Here.Provider value={route}>
            {shown.One !== undefined && route.id !== undefined ? (
              <shown.One key={route.id} id={route.id} />
            ) : (
              <shown.Content route={route} who={who} />
            )}
          </Here.Provider>
        )}
      </main>
    </>
  )
}

interface MenuProps {
  /** The organization's name. */
  name: string
  /** The menu closes when it changes. */
  page: string
  children: ComponentChildren
}

/** The organization's name, which opens the menu; Escape and a click elsewhere close it. */
function Menu({ name, page, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null)
  useEffect(() => {
    menu.current?.removeAttribute('open')
  }, [page])
  useEffect(() => {
    const close = (event: Event) => {
      const isEscape = event instanceof KeyboardEvent && event.key === 'Escape'
      const isElsewhere = event.type === 'click' && !menu.current?.contains(event.target as Node)
      if (isEscape || isElsewhere) menu.current?.removeAttribute('open')
    }
    addEventListener('keydown', close)
    addEventListener('click', close)
    return () => {
      removeEventListener('keydown', close)
      removeEventListener('click', close)
    }
  }, [])
  return (
    <details class="account" ref={menu}>
      <summary>
        <bdi>{name}</bdi>
      </summary>
      <div>{children}</div>
    </details>
  )
}

function ThemeChooser() {
  const [theme, setTheme] = useState(readTheme())
  return (
    <Choice
      label="Colours"
      value={theme}
      options={named(THEMES)}
      onChange={(value) => {
        const chosen = THEMES.find((name) => name === value) ?? 'system'
        applyTheme(chosen)
        setTheme(chosen)
      }}
    />
  )
}
