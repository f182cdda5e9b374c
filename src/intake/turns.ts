/** Work of a request without a pause: what another organization's request waits at least. */
const SLICE_MS = 10

/** Gives the thread to one request after the other, organizations in rotation. */
export interface Turns {
  /** A function to await between pieces of an organization's request: after 10 ms of work it waits for its next turn. */
  pauseOf(orgId: string): () => Promise<void> | undefined
}

export function createTurns(): Turns {
  /** Waiting requests by organization, in the order in which the organizations get their turns. */
  const waiting = new Map<string, (() => void)[]>()
  let isRunning = false
  const next = () => {
    const [first] = waiting
    if (first === undefined) {
      isRunning = false
      return
    }
    const [orgId, [begin, ...others]] = first
    waiting.delete(orgId)
    if (others.length > 0) waiting.set(orgId, others)
    // its work runs until its next pause, before the event loop goes on
    begin?.()
    setImmediate(next)
  }
  const wait = (orgId: string): Promise<void> => {
    const turn = Promise.withResolvers<void>()
    waiting.set(orgId, [...(waiting.get(orgId) ?? []), turn.resolve])
    if (!isRunning) {
      isRunning = true
      setImmediate(next)
    }
    return turn.promise
  }
  return {
    pauseOf(orgId) {
      let since = performance.now()
      return () => {
        if (performance.now() - since < SLICE_MS) return undefined
        return wait(orgId).then(() => {
          since = performance.now()
        })
      }
    },
  }
}
