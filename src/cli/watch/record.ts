import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { writePrivate } from '../client/private-file.ts'

/** What `watch` says of itself, for `status`. Times are UTC. */
export interface WatchRecord {
  pid: number
  started_at: string
  paths: readonly string[]
  server: string
  /** When a sync last ended, and well. */
  last_run_at: string | null
  last_success_at: string | null
  /** Of the last sync; null when it ended well. */
  error: string | null
}

const pathOf = (folder: string): string => join(folder, 'watch.json')

export const writeWatchRecord = (folder: string, record: WatchRecord): void =>
  writePrivate(pathOf(folder), JSON.stringify(record))

/** What the last `watch` said; null when there was none. */
export function readWatchRecord(folder: string): WatchRecord | null {
  try {
    return JSON.parse(readFileSync(pathOf(folder), 'utf8')) as WatchRecord
  } catch {
    return null
  }
}
