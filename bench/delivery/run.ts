import type { Sql } from '../../src/database/client.ts'
import { verifySignature, verifyStandardSignature } from '../../src/webhooks/signing/signature.ts'
import { cpuSecondsOf, memoryOf } from '../support/program.ts'
import type { Contender, Database } from './contenders.ts'
import { SECRET } from './jobs.ts'
import type { Receiver } from './processes.ts'
import { nowMs, type Sample } from './receiver.ts'

/** Part of the deliveries that is not measured: the runtime compiles the code meanwhile. */
const WARM_UP_PART = 0.1
const SETTLE_POLL_MS = 10
/** A run with fewer deliveries a second fails. */
const LEAST_PER_SECOND = 20
const START_TIMEOUT_MS = 30_000

/** The results of a contender in a round. */
export interface Measured {
  /** Deliveries a second, from the first receipt after the warm-up to the last one. */
  perSecond: number
  /** Deliveries a second, from the same receipt until all are settled in the database. */
  settledPerSecond: number
  duplicates: number
  /** Milliseconds of processor time for each delivery, of the process and of PostgreSQL: from the first receipt on. */
  cpuOfProgram: number
  cpuOfPostgres: number
  /** MiB of memory (RSS) of the process: when the first delivery has come, and when all is settled. */
  rssBefore: number
  rssAfter: number
  /** Number of headers and bytes of the body of one request. */
  headers: number
  bodyBytes: number
}

/**
 * Creates `count` waiting deliveries in an empty database, starts the contender, and waits until all are
 * settled.
 */
export async function runOnce(
  contender: Contender,
  database: Database,
  receiver: Receiver,
  count: number,
  postmaster: number,
): Promise<Measured> {
  await contender.fill(database, receiver.url, count)
  await settleTables(database.sql)
  const { begun, complete } = await receiver.expect(count, Math.floor(count * WARM_UP_PART))
  const deliverer = await contender.start(database)
  try {
    const timeoutMs = START_TIMEOUT_MS + (1_000 * count) / LEAST_PER_SECOND
    await within(timeoutMs, Promise.race([begun, deliverer.failed]))
    const cpuAt = () => [deliverer.pid, postmaster].map(cpuSecondsOf)
    const before = cpuAt()
    const rssBefore = memoryOf(deliverer.pid).program.rss
    await within(timeoutMs, Promise.race([complete, deliverer.failed]))
    while ((await contender.countWaiting(database.sql)) > 0) await Bun.sleep(SETTLE_POLL_MS)
    const settledMs = nowMs()
    const [cpuOfProgram = 0, cpuOfPostgres = 0] = cpuAt().map(
      (seconds, at) => (1_000 * (seconds - (before[at] ?? 0))) / count,
    )
    const rssAfter = memoryOf(deliverer.pid).program.rss
    const { warmMs, lastMs, duplicates, deliveries, warmDeliveries, sample } = await receiver.account()
    checkSample(sample)
    const measured = deliveries - warmDeliveries
    return {
      perSecond: (1_000 * (measured - 1)) / (lastMs - warmMs),
      settledPerSecond: (1_000 * measured) / (settledMs - warmMs),
      duplicates,
      cpuOfProgram,
      cpuOfPostgres,
      rssBefore,
      rssAfter,
      headers: Object.keys(sample.headers).length,
      bodyBytes: Buffer.byteLength(sample.body),
    }
  } finally {
    await deliverer.stop()
  }
}

/** Vacuum and checkpoint after filling, so that neither falls into the measured time. */
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
