import { createPause } from '../../accounts/organizations/pause.ts'
import { createShares } from '../../accounts/organizations/shares.ts'

/** Work of a request without a pause: what another organization's request waits at least. */
const SLICE_MS = 10

/**
 * Runs `then` when the event loop has gone on. Without the second immediate, Bun 1.4.5 waits for the next event, up to a
 * second, before what awaits `then` goes on.
 */
const afterOthers = (then: () => void) =>
  setImmediate(() => {
    then()
    setImmediate(() => {})
  })

/** Gives the thread to one request after the other, organizations and their keys in rotation: a pause ends with the request's next turn. */
export function createTurns() {
  const turns = createShares({ total: 1, each: 1, waiting: Infinity, what: 'turns' })
  return (orgId: string, by?: string) =>
    createPause(async () => {
      const isAfterOthers = Promise.withResolvers<void>()
      afterOthers(isAfterOthers.resolve)
      await isAfterOthers.promise
      // its work runs until its next pause, before the event loop goes on and the next one gets the thread
      afterOthers(await turns.take(orgId, 1, { units: 1, signal: undefined, by }))
    }, SLICE_MS)
}
