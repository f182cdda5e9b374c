/** A transaction reads at most this much of details under the organization's lock. */
const BATCH_BYTES = 2_000_000

/** A session and the size of its details as a text. */
export interface SizedSession {
  id: string
  bytes: number
}

/** The sessions' ids in batches for one transaction each; a session larger than a batch has one of its own. */
export function inBatchesOfBytes(found: readonly SizedSession[]): string[][] {
  const batches: string[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const session of found) {
    bytes += session.bytes
    if (bytes > BATCH_BYTES) {
      batches.push([])
      bytes = session.bytes
    }
    batches.at(-1)?.push(session.id)
  }
  return batches
}
