import { expect, test } from 'bun:test'
import { createLog } from '../../../src/base/log.ts'
import type { Outcome } from '../../../src/webhooks/outbox/settle.ts'
import { createResultBatcher } from '../../../src/webhooks/worker/result-batcher.ts'
import { result } from '../../support/webhook-rows.ts'

const outcome = (deliveryId: string, ok: boolean, atMs: number): Outcome => ({
  deliveryId,
  endpointId: 'hook_1',
  attempt: 1,
  result: result({ ok, startedAt: new Date(atMs) }),
})

test('what was written before the database went away is not written again, nor called refused', async () => {
  const lines: string[] = []
  const asked: string[][] = []
  const settled: string[] = []
  const rows = new Set(['dlv_0', 'dlv_a', 'dlv_b', 'dlv_c'])
  const all = Promise.withResolvers<void>()
  const add = createResultBatcher({
    async settle(_orgId, outcomes) {
      const ids = outcomes.map(({ deliveryId }) => deliveryId)
      asked.push(ids)
      if (asked.length === 3) throw Object.assign(new Error('gone'), { code: 'CONNECTION_CLOSED' })
      return ids.filter((id) => rows.delete(id))
    },
    onSettled(_orgId, outcomes) {
      settled.push(...outcomes.map(({ deliveryId }) => deliveryId))
      if (settled.length === 4) all.resolve()
    },
    log: createLog('warn', 'json', (line) => lines.push(line)),
  })
  // the first is under way alone while the others gather
  add('org_1', outcome('dlv_0', true, 1))
  add('org_1', outcome('dlv_c', false, 40))
  add('org_1', outcome('dlv_b', true, 30))
  add('org_1', outcome('dlv_a', false, 20))
  await all.promise
  // a failure, the success after it, that again, and the failure after it
  expect(asked).toEqual([['dlv_0'], ['dlv_a'], ['dlv_b'], ['dlv_b'], ['dlv_c']])
  expect(settled).toEqual(['dlv_0', 'dlv_c', 'dlv_b', 'dlv_a'])
  expect(lines.map((line) => JSON.parse(line).message)).toEqual([
    'results of deliveries could not be written; trying again',
  ])
})
