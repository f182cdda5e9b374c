// Decides when `watch` looks at the files, and when they are sent.

import type { Stamp } from './file-stamps.ts'
import type { SyncResult } from './run-sync.ts'

/** A session is sent when nothing was written to it for so long. `sync --settled` has the rest of the rule. */
export const QUIET_MS = 30_000
/** A file that grows is sent so often. */
const GROWING_MS = 300_000
/** All files are looked at after this time: 10,000 take 23 ms of processor time. */
const LOOK_MS = 15_000
/** A file is quiet by a look that is not older than this: what writes every 20 s is not quiet for 30 s. */
const FRESH_MS = 1_000
/** Two syncs are this far apart: one of several sessions is always quiet. */
const BETWEEN_MS = 15_000
/** A sync that failed is repeated after this time; it doubles with each failure. */
const FIRST_RETRY_MS = 5_000
const MAX_RETRY_MS = 60_000
/** The quiet that `sync` sees is some ms shorter than the one seen here. */
const MARGIN_MS = 500

interface Following {
  /** Whether there is anything to look at: agents may be installed later. */
  hasPaths(): boolean
  /** Size and time of all files. */
  stamps(): Promise<ReadonlyMap<string, Stamp>>
  /** Sends what is new. What it throws ends all. */
  sync(isFirst: boolean): Promise<Pick<SyncResult, 'failure' | 'growing'>>
  now(): number
  /** Ends earlier when `stopped` aborts. */
  sleep(ms: number): Promise<void>
  stopped: AbortSignal
}

/** Sends everything once, and then what ends or grows, until `stopped` aborts. */
export async function follow({ hasPaths, stamps, sync, now, sleep, stopped }: Following): Promise<void> {
  const quietMs = QUIET_MS + MARGIN_MS
  const sent = new Map<string, Stamp>()
  /** Files that were changed since they were last sent, as the last look found them. */
  let changed = new Map<string, Stamp>()
  /** Time when the first of these changes was seen, or of the sync that left them out. */
  let changedMs = 0
  let failures = 0
  let isFirst = true
  let lookedMs = 0
  let nextLookMs = 0
  let nextSyncMs = 0
  const look = async (): Promise<void> => {
    lookedMs = now()
    const current = await stamps()
    for (const path of sent.keys()) if (!current.has(path)) sent.delete(path)
    if (changed.size === 0) changedMs = now()
    changed = new Map(current.entries().filter(([path, stamp]) => !Bun.deepEquals(sent.get(path), stamp)))
    // clients that were started together do not look together
    nextLookMs = now() + LOOK_MS * (0.9 + Math.random() / 5)
  }
  const dueMs = (): number => {
    const writtenMs = changed.values().map(({ mtimeMs }) => Math.max(mtimeMs, 0))
    const quietAtMs = writtenMs.reduce((first, ms) => Math.min(first, ms + quietMs), Number.POSITIVE_INFINITY)
    const growingMs = changed.size > 0 ? changedMs + GROWING_MS + MARGIN_MS : Number.POSITIVE_INFINITY
    return Math.max(isFirst && hasPaths() ? 0 : Math.min(quietAtMs, growingMs), nextSyncMs)
  }
  while (!stopped.aborted) {
    if (nextLookMs <= now() || (dueMs() <= now() && now() - lookedMs > FRESH_MS)) await look()
    if (stopped.aborted) break
    if (dueMs() > now()) {
      await sleep(Math.max(0, Math.min(nextLookMs, dueMs()) - now()))
      continue
    }
    const startedMs = now()
    const { failure, growing } = await sync(isFirst)
    if (failure === null) {
      isFirst = false
      failures = 0
      for (const [path, stamp] of changed) {
        // it left out what was being written to
        if (growing > 0 && startedMs - stamp.mtimeMs < quietMs) continue
        sent.set(path, stamp)
        changed.delete(path)
      }
      changedMs = now()
      nextSyncMs = now() + BETWEEN_MS
    } else {
      const delayMs = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** failures)
      failures += 1
      nextSyncMs = now() + delayMs * (0.5 + Math.random())
    }
  }
}
