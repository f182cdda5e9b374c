import type { Sql } from '../src/db/client.ts'
import { newOrderedId } from '../src/ids.ts'
import { bodyOf } from '../src/webhooks/catalogue.ts'
import { verifySignature, verifyStandardSignature } from '../src/webhooks/signature.ts'
import type { Contender, Database } from './delivery-contenders.ts'
import type { Receiver } from './delivery-processes.ts'
import { nowMs, type Sample } from './delivery-receiver.ts'
import type { Job } from './delivery-rival.ts'
import { memoryOf } from './program.ts'

/** Of the deliveries, in which a process has compiled what it runs. */
const WARM_UP_PART = 0.1
const SETTLE_POLL_MS = 10
/** A run that does fewer a second counts as stuck. */
const LEAST_PER_SECOND = 20
const START_TIMEOUT_MS = 30_000

export const EVENT = 'session.completed'
export const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`

/** What one contender did in one round. */
export interface Measured {
  /** Deliveries a second, from the first receipt behind the warm-up to the last one. */
  perSecond: number
  /** From the same to when the database knows all of them to be done. */
  settledPerSecond: number
  duplicates: number
  /** MiB of memory (RSS) of the process: when the first delivery has come, and when all is settled. */
  rssBefore: number
  rssAfter: number
  /** Of one request. */
  headers: number
  bodyBytes: number
}

/** What happened, of the `at`th session. */
export const dataOf = (at: number) => ({
  session_id: `sess_bench${String(at).padStart(12, '0')}`,
  project_name: `platform-engineering/services/billing-and-invoices/project-${String(at % 20).padStart(2, '0')}`,
  quality_score: 87.25,
})

/** Deliveries for rivals, with the same bodies as ours have. */
export function makeJobs(url: string, count: number): Job[] {
  return Array.from({ length: count }, (_, at) => {
    const now = new Date()
    const eventId = newOrderedId('evt', now)
    const body = bodyOf(eventId, EVENT, now, dataOf(at))
    return { url, secret: SECRET, deliveryId: newOrderedId('dlv', now), eventId, event: EVENT, body }
  })
}

/** Lets `count` deliveries wait in a fresh database, then starts the contender and waits until all of them are done. */
export async function runOnce(
  contender: Contender,
  database: Database,
  receiver: Receiver,
  count: number,
): Promise<Measured> {
  await contender.fill(database, makeJobs(receiver.url, count))
  await settleTables(database.sql)
  const { begun, complete } = await receiver.expect(count, Math.floor(count * WARM_UP_PART))
  const deliverer = await contender.start(database)
  try {
    const timeoutMs = START_TIMEOUT_MS + (1_000 * count) / LEAST_PER_SECOND
    await within(timeoutMs, Promise.race([begun, deliverer.failed]))
    const rssBefore = memoryOf(deliverer.pid).program.rss
    await within(timeoutMs, Promise.race([complete, deliverer.failed]))
    while ((await contender.countWaiting(database.sql)) > 0) await Bun.sleep(SETTLE_POLL_MS)
    const settledMs = nowMs()
    const rssAfter = memoryOf(deliverer.pid).program.rss
    const { warmMs, lastMs, duplicates, deliveries, warmDeliveries, sample } = await receiver.account()
    checkSample(sample)
    const measured = deliveries - warmDeliveries
    return {
      perSecond: (1_000 * (measured - 1)) / (lastMs - warmMs),
      settledPerSecond: (1_000 * measured) / (settledMs - warmMs),
      duplicates,
      rssBefore,
      rssAfter,
      headers: Object.keys(sample.headers).length,
      bodyBytes: Buffer.byteLength(sample.body),
    }
  } finally {
    await deliverer.stop()
  }
}

/** No run pays for what the filling left to be done. */
async function settleTables(sql: Sql): Promise<void> {
  await sql`vacuum analyze`
  await sql`checkpoint`
}

async function within<Value>(timeoutMs: number, promise: Promise<Value>): Promise<Value> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Error(`not done within ${timeoutMs} ms`)), timeoutMs)
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Throws unless the request was signed in both forms. */
function checkSample({ headers, body }: Sample): void {
  const of = (name: string) => headers[name] ?? ''
  const message = { id: of('webhook-id'), timestamp: of('webhook-timestamp'), body }
  const isSigned =
    verifySignature(SECRET, body, of('x-service-signature-256')) &&
    verifyStandardSignature(SECRET, message, of('webhook-signature'))
  if (!isSigned) throw new Error(`a request was not signed: ${JSON.stringify(headers)}`)
}
