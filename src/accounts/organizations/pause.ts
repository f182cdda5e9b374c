/** A large batch takes a second or more to check and score: other requests are served in between. */
const PAUSE_AFTER_MS = 20

/** A function to await in a long loop: after `afterMs` of work it awaits `turn`, by default that the event loop ran. */
export function createPause(
  turn: () => Promise<void> = () => Bun.sleep(0),
  afterMs = PAUSE_AFTER_MS,
): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < afterMs) return undefined
    return turn().then(() => {
      since = performance.now()
    })
  }
}
