/** A large batch takes a second or more to check and score: other requests are served in between. */
const PAUSE_AFTER_MS = 20

/** A function to await in a long loop: every 20 ms it lets the event loop run. */
export function createPause(): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < PAUSE_AFTER_MS) return undefined
    return Bun.sleep(0).then(() => {
      since = performance.now()
    })
  }
}
