/** A transaction reads at most this much of texts under the organization's lock, and changes at most this many rows. */
const BATCH_BYTES = 2_000_000
const BATCH_ROWS = 500

/** Sessions deleted in one transaction, or fewer where they are large. */
export const SESSIONS_AT_A_TIME = 200

/** A session or another row, and the size of its texts. */
export interface Sized {
  id: string
  bytes: number
}

/** The ids in batches for one transaction each; a row larger than a batch has one of its own. */
export function inBatchesOfBytes(found: readonly Sized[]): string[][] {
  const batches: string[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const row of found) {
    const size = Math.max(row.bytes, BATCH_BYTES / BATCH_ROWS)
    bytes += size
    if (bytes > BATCH_BYTES) {
      batches.push([])
      bytes = size
    }
    batches.at(-1)?.push(row.id)
  }
  return batches
}
