import { type AnyElysia, Elysia } from 'elysia'
import type { Log } from '../../src/base/log.ts'
import { createRegistry } from '../../src/base/metrics/registry.ts'
import { measureRequests } from '../../src/base/metrics/requests.ts'
import type { Sql } from '../../src/database/client.ts'
import { createAdmission } from '../../src/http/admission.ts'
import { answers, createAnswer } from '../../src/http/answers.ts'
import { type Api, createApi } from '../../src/http/api.ts'
import { arrival } from '../../src/http/arrival.ts'
import { createRoutes } from '../../src/http/declared.ts'
import { allowOf, errors } from '../../src/http/errors.ts'
import { createGate, type Gate } from '../../src/http/queues/gate.ts'
import { createResponseCache } from '../../src/http/responses/response-cache.ts'
import { createWholeLists } from '../../src/http/whole-list.ts'
import { silent } from '../support/postgres.ts'

interface Over {
  log?: Log
  gate?: Gate
  checkResponses?: boolean
}

/** An app of all of the service's plugins with other routes, which `routesOf` makes; those of `api` are below /v1. */
export function smallApp(
  sql: Sql,
  routesOf: (api: Api) => AnyElysia,
  { log = silent, gate = createGate(), checkResponses = true }: Over = {},
): AnyElysia {
  const cache = createResponseCache(() => Promise.reject(new Error('not asked')), 0)
  const rateLimits = { cloud_pro: 10, cloud_team: 10, cloud_enterprise: 10 }
  const admission = createAdmission({
    sql,
    lookUp: (statement) => statement(sql),
    config: { publicUrl: null, trustProxy: 0, rateLimits },
    log: silent,
    now: () => new Date(),
    server: () => null,
  })
  const record = () => {}
  const answer = createAnswer(cache.grow, '')
  const routes = createRoutes()
  const wholeLists = createWholeLists({ sql, log: silent })
  const server = () => null
  const { api } = createApi({ routes, answer, sql, gate, cache, wholeLists, checkResponses, server })
  const { limits } = measureRequests(createRegistry())
  const app: AnyElysia = new Elysia({ normalize: false })
    .use(
      arrival({ admission, limits, record, refusal: () => undefined, allowOf: (path) => allowOf(path, app) }),
    )
    .use(errors({ log, diskPlace: 'on its disk', app: () => app }))
    .use(answers({ gate, record, answer }))
    .use(new Elysia({ prefix: '/v1' }).use(routesOf(api)))
  routes.declare(app.routes)
  return app
}
