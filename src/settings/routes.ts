import type { RouteDeps } from '../http/route.ts'
import { budgetRoutes } from './budget-routes.ts'
import type { SettingsDeps } from './deps.ts'
import { keyRoutes } from './key-routes.ts'
import { memberRoutes } from './member-routes.ts'
import { organizationRoutes } from './organization-routes.ts'

/** Everything that an organization's administrators set. */
export const settingsRoutes = (deps: RouteDeps, settings: SettingsDeps) => [
  ...keyRoutes(deps, settings),
  ...memberRoutes(deps, settings),
  ...budgetRoutes(deps, settings),
  ...organizationRoutes(deps, settings),
]
