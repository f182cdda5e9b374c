import { join } from 'node:path'
import { readJsonFile } from '../../base/json-file.ts'
import { writePrivate } from '../client/whole-file.ts'

/** The file in which `watch` writes of itself, for `status`, has these. Times are UTC. */
export interface WatchRecord {
  pid: number
  paths: readonly string[]
  server: string
  /** Time of the last sync that ended well. */
  last_success_at: string | null
  /** The error of the last sync; null when it ended well. */
  error: string | null
}

const pathOf = (folder: string): string => join(folder, 'watch.json')

export const writeWatchRecord = (folder: string, record: WatchRecord) =>
  writePrivate(pathOf(folder), JSON.stringify(record))

/** Reads the record of the last `watch`; null when there was none. */
export const readWatchRecord = (folder: string): WatchRecord | null =>
  (readJsonFile(pathOf(folder)) as WatchRecord | undefined) ?? null
