import type { ComponentType } from 'preact'
import { linkTo, type Route } from './client/links.ts'
import type { PageProps } from './client/page-props.ts'
import { onDemand } from './frame/on-demand.tsx'
import { OverviewPage } from './overview/overview.tsx'
import { CostPage } from './pages/cost.tsx'
import { QualityPage } from './pages/quality.tsx'
import { SecurityPage } from './pages/security.tsx'
import { SessionPage } from './sessions/session.tsx'
import { SessionsPage } from './sessions/sessions.tsx'

// The tabs of the header and their pages.

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

const later = (page: keyof typeof import('./later.ts').LATER) =>
  onDemand<PageProps>(async () => (await import('./later.ts')).LATER[page])
const more = (page: keyof typeof import('./more.ts').MORE) =>
  onDemand<PageProps>(async () => (await import('./more.ts')).MORE[page])
const moreOne = (page: keyof typeof import('./more.ts').MORE_ONE) =>
  onDemand<{ id: string }>(async () => (await import('./more.ts')).MORE_ONE[page])
const Paid = onDemand<PageProps>(async () => (await import('./paid/paid.tsx')).PaidPage)
const PaidChange = onDemand<{ id: string }>(async () => (await import('./paid/change.tsx')).PaidChange)
const Endpoint = onDemand<{ id: string }>(async () => (await import('./later.ts')).Endpoint)

const Why = onDemand<PageProps>(async () => (await import('./why/why.tsx')).WhyPage)

/**
 * The tabs of the header with their pages: a new page is one line here. One that few look at is loaded on demand, by
 * `onDemand(async () => (await import('./pages/new.tsx')).NewPage)`.
 */
export const TABS: readonly Tab[] = [
  { name: 'Overview', pages: [{ page: '', name: 'Overview', Content: OverviewPage }] },
  {
    name: 'Cost',
    pages: [
      { page: 'cost', name: 'Spend', Content: CostPage },
      { page: 'why', name: 'Why it changed', Content: Why },
      { page: 'seats', name: 'Seats', Content: later('seats') },
      { page: 'budgets', name: 'Budgets', Content: more('budgets') },
    ],
  },
  {
    name: 'Work',
    pages: [
      { page: 'sessions', name: 'Sessions', Content: SessionsPage, One: SessionPage },
      {
        page: 'pull-requests',
        name: 'Pull requests',
        Content: more('pullRequests'),
        One: moreOne('pullRequest'),
      },
      { page: 'outcomes', name: 'Outcomes', Content: more('outcomes') },
      { page: 'paid', name: 'Did it pay', Content: Paid, One: PaidChange },
    ],
  },
  { name: 'Quality', pages: [{ page: 'quality', name: 'Quality', Content: QualityPage }] },
  { name: 'Security', pages: [{ page: 'security', name: 'Security', Content: SecurityPage }] },
  { name: 'Team', pages: [{ page: 'team', name: 'Team', Content: more('team'), One: moreOne('person') }] },
]

/** The pages of the menu. */
export const MENU: readonly Listed[] = [
  { page: 'me', name: 'Me', Content: more('me') },
  { page: 'week', name: 'This week', Content: later('week') },
  { page: 'alerts', name: 'Alerts', Content: later('alerts') },
  { page: 'digests', name: 'Digests', Content: later('digests') },
  { page: 'devices', name: 'Devices', Content: later('devices') },
  { page: 'audit', name: 'Audit', Content: later('audit') },
  { page: 'webhooks', name: 'Webhooks', Content: later('webhooks'), One: Endpoint },
  { page: 'badges', name: 'Badges', Content: later('badges') },
  { page: 'settings', name: 'Settings', Content: later('settings') },
]

export const PAGES: readonly Listed[] = [...TABS.flatMap(({ pages }) => pages), ...MENU]

/** The address that took the place of an older one; undefined for one that stands. */
export function newAddressOf({ page, id, query }: Route): string | undefined {
  const given = Object.fromEntries(query)
  if (page === 'findings') return linkTo('security', given)
  return page === 'settings' && id === 'budget' ? linkTo('budgets', given) : undefined
}
