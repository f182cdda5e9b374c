import { expect, test } from 'bun:test'
import { startLoop } from '../../src/worker/loop.ts'
import { eventually } from '../support/cli.ts'
import { silent as log } from '../support/postgres.ts'
import { LIMITS } from '../support/webhook-rows.ts'

test('looks again soon after a look that took a second, whether it failed or not', async () => {
  const looks: number[] = []
  const loop = startLoop({
    async findDueOrganizations() {
      looks.push(performance.now())
      if (looks.length > 2) return []
      await Bun.sleep(1_000)
      // as when a pool that had fallen silent is ended
      if (looks.length === 1) throw Object.assign(new Error('ended'), { code: 'CONNECTION_ENDED' })
      return []
    },
    claim: async () => [],
    attempt: () => Promise.reject(new Error('nothing was claimed')),
    settle: async () => [],
    release: async () => {},
    concurrency: LIMITS.limit,
    endpointConcurrency: LIMITS.endpointLimit,
    leaseMs: LIMITS.leaseMs,
    log,
  })
  // at a twentieth of the time this would take 40 s
  await eventually(
    async () => looks.length,
    (count) => count >= 3,
    15_000,
  )
  await loop.drain()
  const [first = 0, second = 0] = looks
  expect(second - first).toBeGreaterThan(1_000)
}, 30_000)
