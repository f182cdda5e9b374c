// Decides by an earlier run's facts about a file which part of it is read again. Agents only append to their files:
// size, times and the bytes at both ends tell whether a file is as it was, or has grown.

import { createHash } from 'node:crypto'
import { closeSync, readSync, type Stats, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { DetectedFormat } from './file-format.ts'
import { FORMATS } from './format-list.ts'
import { openRegular } from './git/regular-file.ts'
import { isDatabase } from './transcript/file-bytes.ts'

/** A file as a run found it, and what became of its sessions. */
export interface KnownFile {
  size: number
  mtimeMs: number
  /** When the system noted a change, also of what is not in the file; absent in what 0.2 kept. */
  ctimeMs?: number
  /** A hash of the first and last 4 KiB; of a folder, of the names, sizes and times of all its files. */
  ends: string
  detected: DetectedFormat
  /** The agent's session ids in it. */
  ids: string[]
  /** The options and version that read it when the server had answered for all of its sessions (and those of the files that share them). */
  done?: string | null
  /** The version of the readers that read it; absent for the first. */
  readers?: number
  /** The time of the last limit in it that was sent. */
  limited?: string
  /** Ids of the records that were read with it; a session that spans several files is in the last of them. */
  records?: string[]
}

type FileLook = Pick<KnownFile, 'size' | 'mtimeMs' | 'ctimeMs' | 'ends'>

/** `same`: as it was. `grown`: what was known is its beginning. `other`: not known, or another content. */
type Change = 'same' | 'grown' | 'other'

/** A file as it is now, beside what was known of it. */
export interface Look {
  now: FileLook
  before: KnownFile | undefined
  change: Change
  /** The system has noted no change: it was not opened. */
  isUntouched?: true
}

const END_BYTES = 4 * 1024
/** Both ends of a file; shared by all looks. */
const buffer = Buffer.alloc(2 * END_BYTES)

/** Returns the stats of the file that a path leads to; null when there is none. */
export function statsOf(path: string): Stats | null {
  try {
    return statSync(path)
  } catch {
    return null
  }
}

/** Looks at a regular file. One that the system has not changed is not opened. Errors of the file system are thrown as they are. */
export function lookAt(path: string, { size, mtimeMs, ctimeMs }: Stats, entry: KnownFile | undefined): Look {
  // an earlier version did not look for the sessions that started others
  const isOutdated = entry?.detected.kind === 'sessions' && entry.detected.startedBy === undefined
  const before = isOutdated ? undefined : entry
  const isUntouched =
    before?.size === size &&
    before.mtimeMs === mtimeMs &&
    before.ctimeMs === ctimeMs &&
    before.ends.replace(/^\S*/, '') === besideOf(path, isOfDatabase(before.detected))
  if (isUntouched)
    return { now: { size, mtimeMs, ctimeMs, ends: before.ends }, before, change: 'same', isUntouched }
  // without promises: they take five times as long as the reads
  const file = openRegular(path, true)
  try {
    const endsAt = (end: number): string => {
      const length = Math.min(END_BYTES, end)
      const head = readSync(file, buffer, 0, length, 0)
      const tail = readSync(file, buffer, head, length, end - length)
      return hashOf(buffer.subarray(0, head + tail))
    }
    const ends = endsAt(size)
    const now = {
      size,
      mtimeMs,
      ctimeMs,
      ends: ends + besideOf(path, isDatabase(buffer.subarray(0, Math.min(END_BYTES, size)))),
    }
    if (before === undefined) return { now, before, change: 'other' }
    if (before.size === size && before.mtimeMs === mtimeMs && before.ends === now.ends)
      return { now, before, change: 'same' }
    const isGrown = before.size < size && before.size > 0 && endsAt(before.size) === before.ends
    return { now, before, change: isGrown ? 'grown' : 'other' }
  } finally {
    closeSync(file)
  }
}

const isOfDatabase = (detected: DetectedFormat): boolean =>
  detected.kind === 'sessions' && detected.layout === 'database'

/**
 * Size and time of a database's log, which some change before the database, and of a file that has a part of a session;
 * empty for other files.
 */
function besideOf(path: string, hasLog: boolean): string {
  const neighbour = FORMATS.map((format) => format.beside?.(path)).find((each) => each != null)
  const beside = hasLog ? `${path}-wal` : neighbour
  const stats = beside == null ? null : statsOf(beside)
  return stats === null ? '' : ` ${stats.size} ${stats.mtimeMs}`
}

/** Looks at a folder that is read as one file. It is the same or another; files in it may also shrink. */
export async function lookAtFolder(folder: string, before: KnownFile | undefined): Promise<Look> {
  const hash = createHash('sha256')
  const now = { size: 0, mtimeMs: 0, ends: '' }
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  for (const path of paths.sort()) {
    const stats = statsOf(path)
    if (stats === null) continue
    hash.update(`${path} ${stats.size} ${stats.mtimeMs}\n`)
    now.size += stats.size
    now.mtimeMs = Math.max(now.mtimeMs, stats.mtimeMs)
  }
  now.ends = hash.digest('hex').slice(0, 16)
  return { now, before, change: before?.ends === now.ends ? 'same' : 'other' }
}

const hashOf = (bytes: Uint8Array): string => Bun.hash.xxHash3(bytes).toString(36)
