import { existsSync, statfsSync } from 'node:fs'
import { dirname } from 'node:path'

const GIB = 2 ** 30
/** PostgreSQL needs room for its log and for sorting: below this much, writes are about to fail. */
export const MIN_FREE_BYTES = GIB / 10
/** Below this much an operator should know. */
export const LOW_FREE_BYTES = GIB

/** Bytes of the file system of a folder, or of the nearest one above it that exists. Throws where it cannot be read. */
export function spaceOf(folder: string): { free: number; size: number } {
  let existing = folder
  while (!existsSync(existing) && existing !== dirname(existing)) existing = dirname(existing)
  const { bavail, blocks, bsize } = statfsSync(existing)
  return { free: bavail * bsize, size: blocks * bsize }
}

/** As `66.2 GiB`. */
export const inGib = (bytes: number): string => `${(bytes / GIB).toFixed(1)} GiB`
