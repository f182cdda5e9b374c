// Wakes the worker when deliveries are stored. LISTEN shortens the worker's wait; polling finds what notifications miss. The
// driver's reconnection of LISTEN stops for ever when its first attempt fails (7 of 8 restarts of PostgreSQL), so the client
// is replaced when it does not receive the heartbeats that this file sends to it.

import { messageOf } from '../../base/errors.ts'
import { randomLowerAlnum } from '../../base/ids.ts'
import type { Log } from '../../base/log.ts'
import type { Sql } from '../../database/client.ts'

const HEARTBEAT_MS = 2_000
const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 2_000

interface ListenerDeps {
  /** Opens a client that is used for LISTEN only; the listener ends it. */
  open: () => Sql
  /** Sends a notification over another connection. */
  notify: (channel: string, payload: string) => Promise<void>
  channel: string
  onNotify: (payload: string) => void
  log: Log
}

/** Listens until `close`, through failures of the database; never rejects. */
export function startListener(deps: ListenerDeps) {
  const heartbeat = `beat ${randomLowerAlnum(12)}`
  const closing = Promise.withResolvers<void>()
  let isClosing = false
  let isReceived = false
  const pause = (ms: number) => Promise.race([Bun.sleep(ms), closing.promise])
  const onPayload = (payload: string) => {
    if (payload === heartbeat) isReceived = true
    else if (!payload.startsWith('beat ')) deps.onNotify(payload)
  }
  /** Listens with one client until a heartbeat is missing. */
  const listenOnce = async (client: Sql): Promise<void> => {
    const listening = client.listen(deps.channel, onPayload).then(() => 'listening' as const)
    // without this, a rejection after the race below would be unhandled
    listening.catch(() => {})
    const first = await Promise.race([listening, pause(HEARTBEAT_MS)])
    if (first !== 'listening') return
    do {
      isReceived = false
      await Promise.all([deps.notify(deps.channel, heartbeat), pause(HEARTBEAT_MS)])
    } while (isReceived && !isClosing)
  }
  const run = async () => {
    let backoffMs = FIRST_BACKOFF_MS
    while (!isClosing) {
      const client = deps.open()
      const startedMs = performance.now()
      try {
        await listenOnce(client)
      } catch (error) {
        deps.log.debug('listening failed', { error: messageOf(error) })
      }
      // the end of a client that hangs is not awaited longer
      await Promise.race([client.end({ timeout: 0 }).catch(() => {}), pause(FIRST_BACKOFF_MS)])
      const wasStable = performance.now() - startedMs > 2 * HEARTBEAT_MS
      backoffMs = wasStable ? FIRST_BACKOFF_MS : Math.min(backoffMs * 2, MAX_BACKOFF_MS)
      await pause(backoffMs)
    }
  }
  const running = run()
  return {
    async close() {
      isClosing = true
      closing.resolve()
      await running
    },
  }
}
