import { expect, test } from 'bun:test'
import type { Claimed } from '../../src/webhooks/outbox/claim.ts'
import { startLoop } from '../../src/worker/loop.ts'
import { eventually } from '../support/cli.ts'
import { silent as log } from '../support/postgres.ts'
import { LIMITS, result } from '../support/webhook-rows.ts'

const delivery = (id: string): Claimed => ({
  id,
  endpoint_id: 'hook_1',
  event_id: 'evt_1',
  event: 'session.completed',
  attempt: 1,
  is_first: true,
  url: 'http://127.0.0.1:9/',
  secret: new Uint8Array(1),
  previous_secret: null,
  due_at: null,
  body: '{}',
})

/** A loop of `concurrency` slots; `hanging` organizations have more than any, and their attempts end with `release`. */
function loopBeside(hanging: readonly string[], concurrency: number) {
  const over = Promise.withResolvers<void>()
  const taken = new Map<string, number>()
  let waiting = 1
  const loop = startLoop({
    findDueOrganizations: async () => [],
    async claim(orgId, { limit }) {
      const count = hanging.includes(orgId) ? limit : Math.min(limit, waiting)
      if (!hanging.includes(orgId)) waiting -= count
      taken.set(orgId, (taken.get(orgId) ?? 0) + count)
      return Array.from({ length: count }, (_, at) => delivery(`dlv_${orgId}_${at}`))
    },
    async attempt(orgId) {
      if (hanging.includes(orgId)) await over.promise
      return result({ ok: true })
    },
    settle: async (_orgId, outcomes) => outcomes.map(({ deliveryId }) => deliveryId),
    release: async () => {},
    concurrency,
    endpointConcurrency: LIMITS.endpointLimit,
    leaseMs: LIMITS.leaseMs,
    log,
  })
  const end = async () => {
    const drained = loop.drain()
    over.resolve()
    await drained
  }
  return { loop, taken, end }
}

test('three organizations that hang leave a slot to a fourth', async () => {
  const { loop, taken, end } = loopBeside(['a', 'b', 'c'], 64)
  for (const orgId of ['a', 'b', 'c']) loop.wake(orgId)
  await eventually(
    async () => taken.size,
    (size) => size === 3,
  )
  loop.wake('healthy')
  await eventually(
    async () => taken.get('healthy'),
    (count) => count === 1,
  )
  expect(Object.fromEntries(taken)).toEqual({ a: 43, b: 14, c: 5, healthy: 1 })
  await end()
})

test('an organization takes the only slot', async () => {
  const { loop, taken, end } = loopBeside(['a'], 1)
  loop.wake('a')
  await eventually(
    async () => taken.get('a'),
    (count) => count === 1,
  )
  await end()
})
