import { expect, test } from 'bun:test'
import { createSlots } from '../../../src/webhooks/worker/slots.ts'

/** Takes all slots that the organization may have, for first attempts; how many. */
function takeShare(slots: ReturnType<typeof createSlots>, orgId: string): number {
  const share = slots.shareOf(orgId)
  for (let taken = 0; taken < share; taken += 1) slots.take(orgId, true)
  return share
}

test('three organizations that take all they may leave slots to a fourth', () => {
  const slots = createSlots(64)
  expect(['a', 'b', 'c'].map((orgId) => takeShare(slots, orgId))).toEqual([43, 14, 5])
  expect(['a', 'b', 'c', 'd'].map(slots.shareOf)).toEqual([0, 0, 0, 2])
  slots.release('a', true)
  expect(slots.shareOf('c')).toBe(1)
})

test('an organization takes the only slot', async () => {
  const slots = createSlots(1)
  expect(takeShare(slots, 'a')).toBe(1)
  expect([slots.isFull(), slots.shareOf('a'), slots.shareOf('b')]).toEqual([true, 0, 0])
  const empty = slots.empty()
  slots.release('a', true)
  await empty
  expect([slots.isFull(), slots.shareOf('b')]).toEqual([false, 1])
})

test('retries leave a quarter of the slots to first attempts', () => {
  const slots = createSlots(64)
  for (let taken = 0; taken < 48; taken += 1) slots.take(`org_${taken}`, false)
  expect(slots.shareOfRetries()).toBe(0)
  expect(slots.shareOf('a')).toBe(11)
  slots.take('a', true)
  expect(slots.shareOfRetries()).toBe(0)
  slots.release('org_0', false)
  expect(slots.shareOfRetries()).toBe(1)
})
