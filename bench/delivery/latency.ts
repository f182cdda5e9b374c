import { quantile } from '../support/table.ts'
import type { Contender, Database } from './contenders.ts'
import { listen } from './receiver.ts'

/**
 * Pause between an arrival and the next commit, partly random: the program is idle again, and polls are out
 * of phase.
 */
const PAUSE_MS = 25
const PAUSE_SPREAD_MS = 20
/** Samples that are not measured: the runtime compiles the code meanwhile. */
const WARM_UP = 20
/** Part of the samples that a program that polls gets: each takes up to its polling interval. */
const POLLED_PART = 0.1
const TIMEOUT_MS = 30_000

/** Milliseconds from just before COMMIT is sent to when all of the request has arrived. */
export interface Latency {
  samples: number
  p50: number
  p95: number
  p99: number
  max: number
}

/**
 * Takes `wanted` samples (fewer of a program that polls), one delivery at a time. The receiver is in this
 * process: one clock.
 */
export async function measureLatency(
  contender: Contender,
  database: Database,
  wanted: number,
): Promise<Latency> {
  const warmUp = Math.min(WARM_UP, wanted)
  const samples = Math.ceil(contender.pollMs === 0 ? wanted : wanted * POLLED_PART)
  let arrive: (atMs: number) => void = () => {}
  const receiver = listen(() => arrive(performance.now()))
  const url = `http://127.0.0.1:${receiver.port}/hooks`
  await contender.fill(database, url, 0)
  const deliverer = await contender.start(database)
  const times: number[] = []
  try {
    for (let at = 0; at < warmUp + samples; at += 1) {
      const { promise: arrived, resolve, reject } = Promise.withResolvers<number>()
      arrive = resolve
      const timer = setTimeout(() => reject(new Error(`${contender.name}: nothing came`)), TIMEOUT_MS)
      const committedMs = await contender.commitOne(database.sql, url, at)
      const arrivedMs = await Promise.race([arrived, deliverer.failed])
      clearTimeout(timer)
      if (at >= warmUp) times.push(arrivedMs - committedMs)
      await Bun.sleep(PAUSE_MS + Math.random() * (PAUSE_SPREAD_MS + contender.pollMs))
    }
  } finally {
    await deliverer.stop()
    await receiver.stop()
  }
  const of = (part: number) => quantile(times, part)
  return { samples, p50: of(0.5), p95: of(0.95), p99: of(0.99), max: Math.max(...times) }
}
