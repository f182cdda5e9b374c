import type { Sql } from '../db/client.ts'
import { randomLowerAlnum } from '../ids.ts'
import type { Log } from '../log.ts'

// NOTIFY shortens the wait of the worker; that nothing is missed is the polling's doing. The driver's own way to listen
// again after a restart of PostgreSQL gives up for ever when its first attempt fails (7 of 8 restarts), so the client is
// made anew here whenever it does not hear a notification that it sends to itself.

const BEAT_MS = 2_000
const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 2_000

export interface ListenDeps {
  /** Opens a client for this alone; ended by us. */
  open: () => Sql
  /** Sends a notification, by another connection. */
  notify: (channel: string, payload: string) => Promise<void>
  channel: string
  onNotify: (payload: string) => void
  log: Log
}

export interface Listener {
  /** Whether the last beat was heard. */
  isHeard(): boolean
  close(): Promise<void>
}

/** Listens until `close`, whatever happens to the database; never rejects. */
export function listen(deps: ListenDeps): Listener {
  const beat = `beat ${randomLowerAlnum(12)}`
  const closing = Promise.withResolvers<void>()
  let isClosing = false
  let heard = false
  const pause = (ms: number) => {
    const over = Promise.withResolvers<void>()
    const timer = setTimeout(over.resolve, ms)
    return Promise.race([over.promise, closing.promise]).finally(() => clearTimeout(timer))
  }
  const onPayload = (payload: string) => {
    if (payload === beat) heard = true
    else if (!payload.startsWith('beat ')) deps.onNotify(payload)
  }
  /** Listens by one client until a beat is not heard. */
  const listenOnce = async (client: Sql): Promise<void> => {
    const listening = client.listen(deps.channel, onPayload).then(() => 'listening' as const)
    // rejected late, when nobody waits any more
    listening.catch(() => {})
    const first = await Promise.race([listening, pause(BEAT_MS)])
    if (first !== 'listening') return
    do {
      heard = false
      await Promise.all([deps.notify(deps.channel, beat), pause(BEAT_MS)])
    } while (heard && !isClosing)
  }
  const run = async () => {
    let backoffMs = FIRST_BACKOFF_MS
    while (!isClosing) {
      const client = deps.open()
      const startedMs = performance.now()
      try {
        await listenOnce(client)
      } catch (error) {
        deps.log.debug('listening failed', { error: error instanceof Error ? error.message : String(error) })
      }
      heard = false
      // one that hangs is left behind
      await Promise.race([client.end({ timeout: 0 }).catch(() => {}), pause(FIRST_BACKOFF_MS)])
      const lasted = performance.now() - startedMs > 2 * BEAT_MS
      backoffMs = lasted ? FIRST_BACKOFF_MS : Math.min(backoffMs * 2, MAX_BACKOFF_MS)
      await pause(backoffMs)
    }
  }
  const running = run()
  return {
    isHeard: () => heard,
    async close() {
      isClosing = true
      closing.resolve()
      await running
    },
  }
}
