import { expect, test } from 'bun:test'
import type { ClaimedDelivery } from '../../../src/webhooks/outbox/claim.ts'
import { createClaimer } from '../../../src/webhooks/worker/claimer.ts'
import { createSlots } from '../../../src/webhooks/worker/slots.ts'
import { until } from '../../support/cli.ts'
import { silent as log } from '../../support/postgres.ts'
import { LIMITS } from '../../support/webhook-rows.ts'

const delivery = (id: string, over: Partial<ClaimedDelivery> = {}): ClaimedDelivery => ({
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
  ...over,
})

const { endpointLimit: endpointConcurrency, leaseMs } = LIMITS

test('claims for organizations in rotation, while slots are free and their shares allow it', async () => {
  const claims: [string, number][] = []
  const slots = createSlots(8)
  const claimer = createClaimer({
    async claim(orgId, { limit }) {
      claims.push([orgId, limit])
      return Array.from({ length: limit }, (_, at) => delivery(`dlv_${orgId}_${at}`))
    },
    slots,
    endpointConcurrency,
    leaseMs,
    onClaimed: () => {},
    log,
  })
  for (const orgId of ['a', 'b', 'c']) claimer.add(orgId)
  await until(() => slots.isFull())
  await claimer.stop()
  expect(claims).toEqual([
    ['a', 6],
    ['b', 2],
  ])
})

test('tries again after a failure, and stops when its claim has ended', async () => {
  let claims = 0
  const seen: string[] = []
  const claimer = createClaimer({
    async claim() {
      claims += 1
      if (claims === 1) throw new Error('gone')
      return [delivery('dlv_1')]
    },
    slots: createSlots(8),
    endpointConcurrency,
    leaseMs,
    onClaimed: (orgId, claimed) => seen.push(...claimed.map(({ id }) => `${orgId} ${id}`)),
    log,
  })
  claimer.add('a')
  await until(() => seen.length === 1)
  await claimer.stop()
  claimer.add('a')
  expect([claims, seen]).toEqual([2, ['a dlv_1']])
})

test('searches from the last claimed delivery, but from the first where retries found no slot', async () => {
  const cursors: string[][] = []
  const slots = createSlots(8)
  let retries = 0
  const claimer = createClaimer({
    async claim(_orgId, { laterLimit }, of) {
      cursors.push([...of.values()])
      if (cursors.length === 1) return [delivery('dlv_1', { due_at: '2026-01-01' })]
      retries = laterLimit
      return Array.from({ length: laterLimit }, () =>
        delivery('dlv_2', { is_first: false, due_at: '2026-01-02' }),
      )
    },
    slots,
    endpointConcurrency,
    leaseMs,
    onClaimed: () => {},
    log,
  })
  const claimed = async (count: number) => {
    claimer.add('a')
    await until(() => cursors.length === count)
  }
  await claimed(1)
  await claimed(2)
  for (let released = 0; released < retries; released += 1) slots.release('a', false)
  await claimed(3)
  await claimer.stop()
  expect(cursors).toEqual([[], ['2026-01-01'], []])
})
