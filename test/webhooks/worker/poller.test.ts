import { expect, test } from 'bun:test'
import { startPoller } from '../../../src/webhooks/worker/loop.ts'
import { until } from '../../support/cli.ts'
import { silent as log } from '../../support/postgres.ts'

test('polls again soon after a poll that took a second, whether it failed or not', async () => {
  const polls: number[] = []
  const poller = startPoller({
    async findDueOrganizations() {
      polls.push(performance.now())
      if (polls.length > 2) return []
      // a poll that takes a second is tested
      await Bun.sleep(1_000)
      // a stale pool is replaced with this error
      if (polls.length === 1) throw Object.assign(new Error('ended'), { code: 'CONNECTION_ENDED' })
      return []
    },
    onFound: () => {},
    log,
  })
  // at a twentieth of the time this would take 40 s
  await until(() => polls.length >= 3, 15_000)
  poller.stop()
  const [first = 0, second = 0] = polls
  expect(second - first).toBeGreaterThan(1_000)
})
