// The frame of the dashboard: a sign-in until there is a session or a key, then header, menu and the page that the URL names.

import { useEffect, useState } from 'preact/hooks'
import type { WhoAmI } from '../features/whoami/model.ts'
import { DevicePage } from './approve-device.tsx'
import { ApiFailure, getJson, KEY_REFUSED, messageOf } from './client/api.ts'
import { keepCsrfToken, postAuth, returnToPage } from './client/auth.ts'
import { useTimeZone } from './client/days.ts'
import { isAdmin, keptOf, linkTo } from './client/links.ts'
import { forgetLists, useAlertCount } from './client/lists.ts'
import { startLive } from './client/live.ts'
import { Here, useFragment, useRoute } from './client/router.ts'
import { basePath, pageName } from './client/server-url.ts'
import { forgetWho, keepWho, keptWho, signedBy } from './client/signed-in.ts'
import { apiKey } from './client/storage.ts'
import { Menu } from './frame/menu.tsx'
import { Choice, named } from './parts/fields.tsx'
import { Button } from './parts/form.tsx'
import { Palette } from './parts/palette.tsx'
import { AcceptPage, SetupPage, SignIn } from './sign-in.tsx'
import { MENU, newAddressOf, PAGES, TABS } from './tabs.tsx'
import { applyTheme, readTheme, THEMES } from './theme.ts'

/** The person who is signed in: null while nobody is, undefined while that is not known. */
type Signed = WhoAmI | null | undefined

export function App() {
  const [who, setWho] = useState<Signed>(undefined)
  // a second link that is opened in this tab begins its page again
  const fragment = useFragment()
  const [reason, setReason] = useState<string>()
  const signIn = async (given?: WhoAmI): Promise<void> => {
    try {
      const by = signedBy()
      const whoAmI = given ?? (await getJson<WhoAmI>('/whoami'))
      if (given === undefined) keepWho(whoAmI, by)
      keepCsrfToken(whoAmI.csrf_token)
      useTimeZone(whoAmI.organization.time_zone)
      setReason(undefined)
      if (returnToPage()) return
      setWho(whoAmI)
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
  if (pageName() === 'accept') return <AcceptPage key={fragment} />
  if (pageName() === 'setup') return <SetupPage />
  if (who === undefined) {
    return (
      <main class="sign-in">
        <p role="status">Loading …</p>
      </main>
    )
  }
  if (who === null) return <SignIn reason={reason} onSignedIn={(whoAmI) => void signIn(whoAmI)} />
  if (pageName() === 'device') return <DevicePage key={fragment} who={who} />
  return <SignedIn who={who} signOut={() => void signOut()} />
}

function SignedIn({ who, signOut }: { who: WhoAmI; signOut: () => void }) {
  const route = useRoute()
  const shown = PAGES.find(({ page }) => page === route.page)
  const tab = TABS.find(({ pages }) => pages.some((one) => one === shown))
  const title = shown?.name ?? 'Not found'
  const kept = keptOf(route.query)
  const pages = PAGES.filter(({ page }) => page !== 'me' || who.member !== null)
  // begun before the page asks for its data: no change between the two is missed
  const [live] = useState(() => {
    const controller = new AbortController()
    startLive(who.organization.id, who.limits.read, controller.signal)
    return controller
  })
  useEffect(() => () => live.abort(), [])
  const moved = newAddressOf(route)
  useEffect(() => {
    if (moved !== undefined) location.replace(moved)
  }, [moved])
  useEffect(() => {
    document.title = `${title} · Cloud Analytics`
    // in a narrow window the line of pages is scrolled
    for (const one of document.querySelectorAll('nav [aria-current]'))
      one.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [title])
  const One = route.id === undefined ? undefined : shown?.One
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
          {TABS.map(({ name, pages: [first] }) => (
            <a
              key={name}
              href={linkTo(first?.page ?? '', kept)}
              aria-current={name === tab?.name ? 'page' : undefined}
            >
              {name}
            </a>
          ))}
        </nav>
        <Palette pages={pages} hasSettings={isAdmin(who)} />
        <AlertsLink />
        <Menu kind="account" title={<bdi>{who.organization.name}</bdi>}>
          {who.member != null && (
            <p class="note">
              <bdi>{who.member.email}</bdi>
            </p>
          )}
          <nav aria-label="More pages">
            {MENU.filter((one) => pages.includes(one)).map(({ page, name }) => (
              <a key={page} href={linkTo(page)} aria-current={page === route.page ? 'page' : undefined}>
                {name}
              </a>
            ))}
            {isAdmin(who) && <a href={linkTo('settings', {}, 'server')}>Server</a>}
            <a href={`${basePath()}docs`}>API</a>
          </nav>
          <ThemeChooser />
          <Button act={signOut}>Sign out</Button>
        </Menu>
      </header>
      <main id="content" tabIndex={-1}>
        {tab !== undefined && tab.pages.length > 1 && (
          <nav class="sections" aria-label={tab.name}>
            {tab.pages.map(({ page, name }) => (
              <a key={page} href={linkTo(page, kept)} aria-current={page === route.page ? 'page' : undefined}>
                {name}
              </a>
            ))}
          </nav>
        )}
        {shown === undefined && <h1>{title}</h1>}
        {moved !== undefined ? null : shown === undefined ? (
          <p class="note">
            There is no such page. <a href={linkTo('')}>To the overview</a>
          </p>
        ) : (
          <Here.Provider value={route}>
            {One !== undefined ? (
              <One key={route.id} id={route.id ?? ''} />
            ) : (
              <shown.Content key={shown.page} route={route} who={who} />
            )}
          </Here.Provider>
        )}
      </main>
    </>
  )
}

/** The number of alerts that fire, with the way to them. */
function AlertsLink() {
  const count = useAlertCount()
  return (
    <a class="button" href={linkTo('alerts')}>
      Alerts{' '}
      {count > 0 && (
        <span class="count">
          {count}
          <span class="hidden"> {count === 1 ? 'fires' : 'fire'}</span>
        </span>
      )}
    </a>
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
