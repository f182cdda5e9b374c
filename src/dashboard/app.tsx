import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { WhoAmI } from '../whoami/model.ts'
import { KEY_REFUSED, useApi } from './client/api.ts'
import { basePath } from './client/base.ts'
import { forgetKey, readKey } from './client/key.ts'
import { linkTo } from './client/links.ts'
import type { PageProps } from './client/page-props.ts'
import { useRoute } from './client/router.ts'
import { AuditPage } from './pages/audit.tsx'
import { BadgesPage } from './pages/badges.tsx'
import { CostPage } from './pages/cost.tsx'
import { OverviewPage } from './pages/overview.tsx'
import { PullRequestsPage } from './pages/pull-requests.tsx'
import { QualityPage } from './pages/quality.tsx'
import { SecurityPage } from './pages/security.tsx'
import { SessionsPage } from './pages/sessions.tsx'
import { TeamPage } from './pages/team.tsx'
import { WebhooksPage } from './pages/webhooks.tsx'
import { Show } from './parts/show.tsx'
import { SignIn } from './sign-in.tsx'
import { applyTheme, readTheme, THEMES } from './theme.ts'

const PAGES: readonly { page: string; name: string; Content: ComponentType<PageProps> }[] = [
  { page: '', name: 'Overview', Content: OverviewPage },
  { page: 'cost', name: 'Cost', Content: CostPage },
  { page: 'sessions', name: 'Sessions', Content: SessionsPage },
  { page: 'quality', name: 'Quality', Content: QualityPage },
  { page: 'security', name: 'Security', Content: SecurityPage },
  { page: 'team', name: 'Team', Content: TeamPage },
  { page: 'pull-requests', name: 'Pull requests', Content: PullRequestsPage },
  { page: 'audit', name: 'Audit', Content: AuditPage },
  { page: 'webhooks', name: 'Webhooks', Content: WebhooksPage },
  { page: 'badges', name: 'Badges', Content: BadgesPage },
]

/** The dashboard: a sign-in until there is a key, then the page that the URL names. */
export function App() {
  const [key, setKey] = useState(readKey())
  const [reason, setReason] = useState<string>()
  const signOut = (why?: string) => {
    forgetKey()
    setReason(why)
    setKey(null)
  }
  useEffect(() => {
    const onRefused = (event: Event) =>
      signOut(`Signed out: ${event instanceof CustomEvent ? String(event.detail) : 'the key was refused'}`)
    addEventListener(KEY_REFUSED, onRefused)
    return () => removeEventListener(KEY_REFUSED, onRefused)
  }, [])
  return key === null ? (
    <SignIn reason={reason} onKey={setKey} />
  ) : (
    <SignedIn key={key} signOut={() => signOut()} />
  )
}

function SignedIn({ signOut }: { signOut: () => void }) {
  const route = useRoute()
  const who = useApi<WhoAmI>('/whoami')
  const shown = PAGES.find(({ page }) => page === route.page)
  const title = shown?.name ?? 'Not found'
  useEffect(() => {
    document.title = `${title} · Cloud Analytics`
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
        <nav aria-label="Pages">
          {PAGES.map(({ page, name }) => (
            <a key={page} href={linkTo(page)} aria-current={page === route.page ? 'page' : undefined}>
              {name}
            </a>
          ))}
          <a href={`${basePath()}docs`}>API</a>
        </nav>
        <div class="account">
          {who.state === 'ready' && (
            <p>
              <bdi>{who.value.organization.name}</bdi>
            </p>
          )}
          <ThemeChooser />
          <button type="button" onClick={signOut}>
            Sign out
          </button>
        </div>
      </header>
      <main id="content" tabIndex={-1}>
        <h1>{title}</h1>
        {shown === undefined ? (
          <p class="note">
            There is no such page. <a href={linkTo('')}>To the overview</a>
          </p>
        ) : (
          <Show loaded={who} what="the key’s organization">
            {(value) => <shown.Content route={route} who={value} />}
          </Show>
        )}
      </main>
    </>
  )
}

function ThemeChooser() {
  const [theme, setTheme] = useState(readTheme())
  return (
    <label class="theme">
      <span class="hidden">Colours</span>
      <select
        value={theme}
        onChange={({ currentTarget: { value } }) => {
          const chosen = THEMES.find((name) => name === value) ?? 'system'
          applyTheme(chosen)
          setTheme(chosen)
        }}
      >
        {THEMES.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}
