import { AlertsPage } from './alerts/alerts.tsx'
import { DigestsPage, WeekPage } from './alerts/digests.tsx'
import { AuditPage } from './pages/audit.tsx'
import { BadgesPage } from './pages/badges.tsx'
import { SeatsPage } from './seats/seats.tsx'
import { DevicesPage } from './settings/devices.tsx'
import { SettingsPage } from './settings/settings.tsx'
import { EndpointPage } from './webhooks/webhook.tsx'
import { WebhooksPage } from './webhooks/webhooks.tsx'

/** Pages that few look at, of the menu and `Seats` (tabs.tsx): the browser loads them together when one of them is shown first. */
export const RARE_PAGES = {
  ...{ AlertsPage, AuditPage, BadgesPage, DevicesPage, DigestsPage, EndpointPage },
  ...{ SeatsPage, SettingsPage, WebhooksPage, WeekPage },
}
