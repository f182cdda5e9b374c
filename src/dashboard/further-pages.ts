import { BudgetsPage } from './pages/budgets.tsx'
import { OutcomesPage } from './pages/outcomes.tsx'
import { MePage, PersonPage } from './pages/person.tsx'
import { PullRequestPage } from './pages/pull-request.tsx'
import { PullRequestsPage } from './pages/pull-requests.tsx'
import { QualityPage } from './pages/quality.tsx'
import { SecurityPage } from './pages/security.tsx'
import { TeamPage } from './pages/team.tsx'

/** The other pages of the tabs (tabs.tsx): the browser loads them together when one of them is shown first. */
export const FURTHER_PAGES = {
  BudgetsPage,
  MePage,
  OutcomesPage,
  PersonPage,
  PullRequestPage,
  PullRequestsPage,
  QualityPage,
  SecurityPage,
  TeamPage,
}
