/** A large batch takes a second or more to check and score; other requests get a turn this often. */
const PAUSE_AFTER_MS = 20

/** A function to call in a long loop: it lets other work run when that has waited long enough. */
export function createPause(): () => Promise<void> | undefined {
  let since = performance.now()
  return () => {
    if (performance.now() - since < PAUSE_AFTER_MS) return undefined
    return Bun.sleep(0).then(() => {
      since = performance.now()
    })
  }
}
