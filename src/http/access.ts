import { Elysia } from 'elysia'
import type { Config } from '../config.ts'
import type { Sql } from '../db/client.ts'
import type { Log } from '../log.ts'
import type { Admission } from './admission.ts'
import type { BodyGate } from './body-semaphore.ts'

/** What every feature's routes are made from. */
export interface RouteDeps {
  sql: Sql
  config: Config
  log: Log
  now: () => Date
  admission: Admission
  bodies: BodyGate
}

/**
 * The plugin of every route that needs a key: handlers get `access`; without a valid key they answer UNAUTHORIZED,
 * beyond the limit RATE_LIMITED, before the query is looked at.
 */
export const access = (deps: RouteDeps) =>
  new Elysia()
    .decorate('admission', deps.admission)
    .decorate('bodies', deps.bodies)
    .derive({ as: 'scoped' }, ({ request, admission }) => ({ access: admission.accessOf(request) }))
