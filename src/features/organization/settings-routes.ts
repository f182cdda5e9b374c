import { Elysia } from 'elysia'
import type { RouteDeps } from '../../http/api.ts'
import { budgetRoutes } from '../budgets/routes.ts'
import { keyRoutes } from '../keys/routes.ts'
import type { SettingsDeps } from '../members/deps.ts'
import { memberRoutes } from '../members/routes.ts'
import { organizationRoutes } from './routes.ts'

/** Everything that an organization's administrators set. */
export const settingsRoutes = (deps: RouteDeps, settings: SettingsDeps) =>
  new Elysia()
    .use(keyRoutes(deps, settings))
    .use(memberRoutes(deps, settings))
    .use(budgetRoutes(deps, settings))
    .use(organizationRoutes(deps, settings))
