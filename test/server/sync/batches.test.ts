import { expect, test } from 'bun:test'
import type { SyncRecord } from '../../../src/analysis/records/records.ts'
import { forbidden } from '../../../src/base/errors.ts'
import { createBatches, type Skipped } from '../../../src/server/sync/batches.ts'
import { sessionRecord } from '../../support/records.ts'

const MIB = 1024 * 1024

/** Sends sessions whose JSON has about so many MiB, of signs of three bytes each; the ids of each batch, and what was skipped. */
async function sendSizes(...sizes: number[]) {
  const sent: string[][] = []
  const skipped: Skipped[] = []
  const batches = createBatches({
    send: async (records) => {
      sent.push(records.map((record) => (record.type === 'session' ? record.id : record.type)))
      return { created: records.length, updated: 0, unchanged: 0 }
    },
    onSkipped: (one) => skipped.push(one),
  })
  for (const [index, size] of sizes.entries()) {
    const record: SyncRecord = sessionRecord(`sess_${index}`, {
      project_name: 'p',
      summary: '\u20ac'.repeat((size * MIB) / 3),
    })
    await batches.add({ record, path: 'a', line: index + 1 }, JSON.stringify(record))
  }
  await batches.flush()
  return { sent, skipped }
}

test('a batch has at most 16 MiB, counted as the server does: in bytes', async () => {
  expect((await sendSizes(7, 7, 7)).sent).toEqual([['sess_0', 'sess_1'], ['sess_2']])
  expect((await sendSizes(20, 1)).sent).toEqual([['sess_0'], ['sess_1']])
})

test('the first batch has 2,500 records at most, each further one twice as many, and 10,000', async () => {
  const { sent } = await sendSizes(...Array.from({ length: 27_502 }, () => 0))
  expect(sent.map((ids) => ids.length)).toEqual([2_500, 5_000, 10_000, 10_000, 2])
})

test('a record that no server would take is named, the others are sent', async () => {
  const { sent, skipped } = await sendSizes(1, 32, 1)
  expect(sent).toEqual([['sess_0', 'sess_2']])
  expect(skipped).toEqual([{ path: 'a', line: 2, reason: expect.stringContaining('33554431 bytes') }])
})

/** More than half of a batch. */
const session = (nth: number): SyncRecord => sessionRecord(`sess_${nth}`, { summary: 'x'.repeat(9 * MIB) })

async function sendNumbered(
  count: number,
  write: (id: string, before: Promise<unknown>) => Promise<void>,
): Promise<void> {
  const batches = createBatches({
    send: async ([record], before) => {
      await write(record?.type === 'session' ? record.id : '', before)
      return { created: 1, updated: 0, unchanged: 0 }
    },
    onSkipped: () => {},
  })
  for (let nth = 0; nth < count; nth += 1) {
    const record = session(nth)
    await batches.add({ record, path: 'a', line: 1 }, JSON.stringify(record))
  }
  await batches.flush()
}

test('a batch is prepared while the one before it is written, and written after it', async () => {
  const order: string[] = []
  const second = Promise.withResolvers<void>()
  await sendNumbered(3, async (id, before) => {
    order.push(`prepare ${id}`)
    if (id === 'sess_1') second.resolve()
    await before
    // the first ends only once the second is being prepared
    if (id === 'sess_0') await second.promise
    order.push(`wrote ${id}`)
  })
  expect(order.filter((step) => step.startsWith('wrote'))).toEqual([
    'wrote sess_0',
    'wrote sess_1',
    'wrote sess_2',
  ])
  expect(order.indexOf('prepare sess_1')).toBeLessThan(order.indexOf('wrote sess_0'))
  expect(order.indexOf('prepare sess_2')).toBeGreaterThan(order.indexOf('wrote sess_0'))
})

test('after a batch that fails no other is written', async () => {
  const written: string[] = []
  const sending = sendNumbered(4, async (id, before) => {
    await before
    if (id === 'sess_1') throw new Error('the database is gone')
    written.push(id)
  })
  expect(sending).rejects.toThrow('the database is gone')
  await sending.catch(() => {})
  expect(written).toEqual(['sess_0'])
})

test('records that the key may not send are named, the others are sent', async () => {
  const sent: string[][] = []
  const skipped: Skipped[] = []
  const batches = createBatches({
    send: async (records) => {
      const ids = records.map((record) => (record.type === 'session' ? record.id : ''))
      const refused = ids.indexOf('sess_1')
      if (refused >= 0) throw forbidden({ field: `records[${refused}].user_email`, message: 'is nobody’s' })
      sent.push(ids)
      return { created: ids.length, updated: 0, unchanged: 0 }
    },
    onSkipped: (one) => skipped.push(one),
  })
  for (const nth of [0, 1, 2]) {
    const record: SyncRecord = sessionRecord(`sess_${nth}`, { project_name: 'p' })
    await batches.add({ record, path: 'a', line: nth + 1 }, '{}')
  }
  await batches.flush()
  expect(sent).toEqual([['sess_0', 'sess_2']])
  expect(skipped).toEqual([{ path: 'a', line: 2, reason: 'user_email is nobody’s' }])
})
