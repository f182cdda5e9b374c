import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Type } from '@sinclair/typebox'
import { addRoutes } from '../../src/http/add-routes.ts'
import { createAdmission } from '../../src/http/admission.ts'
import { lifecycle } from '../../src/http/lifecycle.ts'
import { createResponseCache } from '../../src/http/responses/response-cache.ts'
import { createResponseCheck } from '../../src/http/responses/response-check.ts'
import { action, read } from '../../src/http/route.ts'
import { createRegistry } from '../../src/metrics/registry.ts'
import { measureRequests } from '../../src/metrics/requests.ts'
import { createGate } from '../../src/organizations/gate.ts'
import { tenant } from '../support/api.ts'
import { silent, type TestDatabase, testDatabase } from '../support/postgres.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
})
afterAll(() => database.drop())

const Count = Type.Object({ count: Type.Integer() })

/** An app with a route that returns `count` without a body, and one that takes a body. */
function countingApp(count: unknown, isChecked: boolean) {
  const gate = createGate()
  const cache = createResponseCache(() => Promise.reject(new Error('not asked')), 0)
  const rateLimits = { cloud_pro: 10, cloud_team: 10, cloud_enterprise: 10 }
  const { app } = lifecycle({
    log: silent,
    requests: measureRequests(createRegistry()),
    admission: createAdmission({
      sql: database.sql,
      lookUp: (statement) => statement(database.sql),
      config: { publicUrl: null, trustProxy: 0, rateLimits },
      log: silent,
      now: () => new Date(),
    }),
    gate,
    cache,
  })
  const described = { id: 'count', summary: 'Count', tag: 'Service' }
  const handler = () => ({ count })
  const routes = [
    read('/count', 'read', { ...described, response: Count, handler }),
    action('POST', '/count', 'write', {
      ...described,
      body: Type.Object({}),
      response: { 200: Count },
      handler,
    }),
  ]
  const checkResponse = isChecked ? createResponseCheck() : undefined
  addRoutes(app, routes, { gate, cache, checkResponse, prefix: '' })
  return app
}

test.each([
  ['GET', 2, true, 200],
  ['GET', 'two', true, 500],
  ['GET', 'two', false, 200],
  ['POST', 2, true, 200],
  ['POST', 'two', true, 500],
  ['POST', 'two', false, 200],
] as const)('%s with the count %p, checked: %p, is %p', async (method, count, isChecked, status) => {
  const { key } = await tenant(database.sql)
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const init = method === 'POST' ? { method, headers, body: '{}' } : { headers }
  const response = await countingApp(count, isChecked).handle(new Request('http://localhost/v1/count', init))
  expect(response.status).toBe(status)
})
