// Reads the stream of changes (SSE), by which pages load again when data have changed, and when they come to the front. The
// tabs of a browser share one stream: the tab that holds a lock has it, and tells the others.

import { ApiFailure, request } from './api.ts'
import { notePointer, tellChange } from './renewal.ts'

/** A page that was loaded this long ago is current when it comes to the front. */
const FRESH_MS = 2_000
const EVENT = 'event: change'
/** Waits before the stream is opened again: after its end, and after failures in a row. */
const AGAIN_MS = 1_000
const MAX_WAIT_MS = 60_000
/** Requests that a page makes at most, and the part of the organization's limit that one page may use to be current. */
const REQUESTS = 6
const PART = 0.1

/** Whether somebody fills in a form: what is loaded again must not change it. A filter holds what is typed by itself. */
const isFilling = (): boolean => document.activeElement?.closest('form:not(.filters)') != null

/** Keeps the pages of a signed-in tab current. `limit`: the organization's requests a minute, of which a page uses a tenth. */
export function startLive(organization: string, limit: number, signal: AbortSignal): void {
  const gapMs = (REQUESTS * 60_000) / (limit * PART)
  let toldAt = Number.NEGATIVE_INFINITY
  let timer: ReturnType<typeof setTimeout> | undefined
  let isLate = false
  const tell = () => {
    timer = undefined
    // a page that is not seen asks once it is
    isLate = document.hidden || isFilling()
    if (isLate) return
    toldAt = performance.now()
    tellChange()
  }
  const soon = (gap: number) => {
    const at = Math.max(0, toldAt + gap - performance.now())
    timer ??= setTimeout(tell, at)
  }
  const channel = new BroadcastChannel(`cloud-analytics-changes ${organization}`)
  channel.onmessage = () => soon(gapMs)
  const changed = () => {
    channel.postMessage('')
    soon(gapMs)
  }
  let hold: AbortController | undefined
  const watch = () => {
    hold?.abort()
    if (document.hidden) return
    hold = new AbortController()
    void holdStream(organization, AbortSignal.any([signal, hold.signal]), changed)
  }
  const onVisible = () => {
    watch()
    clearTimeout(timer)
    timer = undefined
    if (!document.hidden) soon(FRESH_MS)
  }
  document.addEventListener('visibilitychange', onVisible, { signal })
  document.addEventListener('focusout', () => isLate && soon(0), { signal })
  addEventListener('pointermove', notePointer, { signal })
  watch()
  signal.addEventListener('abort', () => {
    clearTimeout(timer)
    channel.close()
  })
}

/** Reads the stream while this tab has the lock; where the browser has no locks, each tab that is seen reads its own. */
async function holdStream(organization: string, signal: AbortSignal, changed: () => void): Promise<void> {
  const read = () => readChanges(signal, changed)
  const { locks } = navigator as { locks?: LockManager }
  if (locks === undefined) await read()
  else await locks.request(`cloud-analytics-changes ${organization}`, { signal }, read).catch(() => undefined)
}

/** Calls `changed` for each event, and after a break, in which one may have been missed. */
async function readChanges(signal: AbortSignal, changed: () => void): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    let waitMs = AGAIN_MS
    try {
      const { body } = await request('/changes', { signal })
      if (failures > 0) changed()
      failures = 0
      const reader = body?.pipeThrough(new TextDecoderStream()).getReader()
      let text = ''
      for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
        text += part.value
        if (text.includes(EVENT)) changed()
        // an event may come in two pieces
        text = text.slice(text.lastIndexOf('\n') + 1)
      }
    } catch (error) {
      const { status = 0, retryAfterS = 0 } = error instanceof ApiFailure ? error : {}
      // an older server, and a key that is not valid any more
      if (status === 404 || status === 401) return
      failures += 1
      waitMs = Math.max(retryAfterS * 1_000, Math.min(MAX_WAIT_MS, AGAIN_MS * 2 ** failures))
    }
    failures += 1
    await new Promise((resolve) => {
      const waits = setTimeout(resolve, waitMs)
      signal.addEventListener('abort', () => {
        clearTimeout(waits)
        resolve(undefined)
      })
    })
  }
}
