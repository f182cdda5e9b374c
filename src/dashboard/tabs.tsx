// The table of all pages: tabs of the header, the menu, and what is loaded on demand; and addresses that moved.

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { linkTo, type PageProps, type Route } from './client/links.ts'
import { OverviewPage } from './overview/overview.tsx'
import { CostPage } from './pages/cost.tsx'
import { SessionPage } from './sessions/session.tsx'
import { SessionsPage } from './sessions/sessions.tsx'

/** A page whose script is loaded when it is shown first. */
export function onDemand<Module, Props extends object>(
  load: () => Promise<Module>,
  pick: (all: Module) => ComponentType<Props>,
): ComponentType<Props> {
  let component: ComponentType<Props> | undefined
  return function OnDemand(props: Props) {
    const [Shown, setShown] = useState(() => component)
    const [isMissing, setMissing] = useState(false)
    useEffect(() => {
      load().then(
        (all) => {
          component = pick(all)
          setShown(() => component)
        },
        () => setMissing(true),
      )
    }, [])
    if (Shown !== undefined) return <Shown {...props} />
    return isMissing ? (
      <p class="failure" role="alert">
        This page cannot be loaded. The server may have another version now: load the page again.
      </p>
    ) : (
      <p class="note" role="status">
        Loading …
      </p>
    )
  }
}

export interface Listed {
  /** The first part of the address. */
  page: string
  name: string
  Content: ComponentType<PageProps>
  /** One of the things that the page lists, when the address names it. */
  One?: ComponentType<{ id: string }>
}

interface Tab {
  name: string
  pages: readonly Listed[]
}

const later = async () => (await import('./rare-pages.ts')).RARE_PAGES
const more = async () => (await import('./further-pages.ts')).FURTHER_PAGES
const why = () => import('./why-it-changed/why-it-changed.tsx')
const paid = () => import('./did-it-pay/did-it-pay.tsx')
const change = () => import('./did-it-pay/change.tsx')

/**
 * The tabs of the header with their pages: a new page is one line here. One that few look at is loaded on demand, by
 * `onDemand(() => import('./pages/new.tsx'), (all) => all.NewPage)`.
 */
export const TABS: readonly Tab[] = [
  { name: 'Overview', pages: [{ page: '', name: 'Overview', Content: OverviewPage }] },
  {
    name: 'Cost',
    pages: [
      { page: 'cost', name: 'Spend', Content: CostPage },
      { page: 'why', name: 'Why it changed', Content: onDemand(why, (all) => all.WhyPage) },
      { page: 'seats', name: 'Seats', Content: onDemand(later, (all) => all.SeatsPage) },
      { page: 'budgets', name: 'Budgets', Content: onDemand(more, (all) => all.BudgetsPage) },
    ],
  },
  {
    name: 'Work',
    pages: [
      { page: 'sessions', name: 'Sessions', Content: SessionsPage, One: SessionPage },
      {
        page: 'pull-requests',
        name: 'Pull requests',
        Content: onDemand(more, (all) => all.PullRequestsPage),
        One: onDemand(more, (all) => all.PullRequestPage),
      },
      { page: 'outcomes', name: 'Outcomes', Content: onDemand(more, (all) => all.OutcomesPage) },
      {
        page: 'paid',
        name: 'Did it pay',
        Content: onDemand(paid, (all) => all.PaidPage),
        One: onDemand(change, (all) => all.PaidChange),
      },
    ],
  },
  {
    name: 'Quality',
    pages: [{ page: 'quality', name: 'Quality', Content: onDemand(more, (all) => all.QualityPage) }],
  },
  {
    name: 'Security',
    pages: [{ page: 'security', name: 'Security', Content: onDemand(more, (all) => all.SecurityPage) }],
  },
  {
    name: 'Team',
    pages: [
      {
        page: 'team',
        name: 'Team',
        Content: onDemand(more, (all) => all.TeamPage),
        One: onDemand(more, (all) => all.PersonPage),
      },
    ],
  },
]

/** The pages of the menu. */
export const MENU: readonly Listed[] = [
  { page: 'me', name: 'Me', Content: onDemand(more, (all) => all.MePage) },
  { page: 'week', name: 'This week', Content: onDemand(later, (all) => all.WeekPage) },
  { page: 'alerts', name: 'Alerts', Content: onDemand(later, (all) => all.AlertsPage) },
  { page: 'digests', name: 'Digests', Content: onDemand(later, (all) => all.DigestsPage) },
  { page: 'devices', name: 'Devices', Content: onDemand(later, (all) => all.DevicesPage) },
  { page: 'audit', name: 'Audit', Content: onDemand(later, (all) => all.AuditPage) },
  {
    page: 'webhooks',
    name: 'Webhooks',
    Content: onDemand(later, (all) => all.WebhooksPage),
    One: onDemand(later, (all) => all.EndpointPage),
  },
  { page: 'badges', name: 'Badges', Content: onDemand(later, (all) => all.BadgesPage) },
  { page: 'settings', name: 'Settings', Content: onDemand(later, (all) => all.SettingsPage) },
]

export const PAGES: readonly Listed[] = [...TABS.flatMap(({ pages }) => pages), ...MENU]

/** The address that took the place of an older one; undefined for one that stands. */
export function newAddressOf({ page, id, query }: Route): string | undefined {
  const values = Object.fromEntries(query)
  if (page === 'findings') return linkTo('security', values)
  return page === 'settings' && id === 'budget' ? linkTo('budgets', values) : undefined
}
