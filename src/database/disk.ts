// Measures free space, explains the error of a full disk, and flushes files to disk.

import { existsSync, statfsSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { messageOf, OperatorError } from '../base/errors.ts'
import type { Config } from '../config.ts'
import { isConnectionError, isDiskFull } from './connection-errors.ts'

const GIB = 2 ** 30
/** PostgreSQL needs room for its log and for sorting: below this much, writes are about to fail. */
export const MIN_FREE_BYTES = GIB / 10
/** An operator should know of less free space than this. */
export const LOW_FREE_BYTES = GIB

/** Bytes of the file system of a folder, or of the nearest one above it that exists. Throws where it cannot be read. */
export function spaceOf(folder: string): { free: number; size: number } {
  let existing = folder
  while (!existsSync(existing) && existing !== dirname(existing)) existing = dirname(existing)
  const { bavail, blocks, bsize } = statfsSync(existing)
  return { free: bavail * bsize, size: blocks * bsize }
}

/** Names the disk on which space has to be freed for the database of the settings. */
export const placeOfDisk = ({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): string =>
  databaseUrl === null ? `on the disk of ${dataDir}` : 'on the disk of the server of DATABASE_URL'

/** A segment of PostgreSQL's log: with less room for it the server ends, and its clients lose their connections. */
const SEGMENT_BYTES = 16 * 2 ** 20

/** Tells an operator that the database had no space left; undefined for an error of another cause. */
export function fullDiskError(error: unknown, config: Pick<Config, 'databaseUrl' | 'dataDir'>) {
  const { databaseUrl, dataDir } = config
  const lacksSegment = () => databaseUrl === null && spaceOf(dataDir).free < SEGMENT_BYTES
  if (!isDiskFull(error) && !(isConnectionError(error) && lacksSegment())) return undefined
  return new OperatorError(
    `no space left for the database: free some ${placeOfDisk(config)}, then run it again (${messageOf(error)})`,
  )
}

/** Writes bytes like `66.2 GiB`. */
export const inGib = (bytes: number): string => `${(bytes / GIB).toFixed(1)} GiB`

/** Flushes a file, or the names in a folder, to disk. */
export async function syncPath(path: string): Promise<void> {
  const handle = await open(path)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
