import { Elysia } from 'elysia'
import type { RouteDeps } from '../http/api.ts'
import { budgetRoutes } from './budget-routes.ts'
import type { SettingsDeps } from './deps.ts'
import { keyRoutes } from './key-routes.ts'
import { memberRoutes } from './member-routes.ts'
import { organizationRoutes } from './organization-routes.ts'

/** Everything that an organization's administrators set. */
export const settingsRoutes = (deps: RouteDeps, settings: SettingsDeps) =>
  new Elysia()
    .use(keyRoutes(deps, settings))
    .use(memberRoutes(deps, settings))
    .use(budgetRoutes(deps, settings))
    .use(organizationRoutes(deps, settings))
