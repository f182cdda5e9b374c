import { createHash } from 'node:crypto'
import type { Stats } from 'node:fs'
import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { DetectedFormat } from './file-format.ts'

// What an earlier run knew of a file decides what of it is read again. Agents only append to their files: size, time of
// change and the bytes at both ends tell whether a file is as it was, or has grown.

/** A file as a run found it. */
export interface KnownFile {
  size: number
  mtimeMs: number
  /** A hash of the first and last 4 KiB; of a folder, of the names, sizes and times of all its files. */
  ends: string
  detected: DetectedFormat
  /** The agent's session ids in it. */
  ids: string[]
}

export type FileLook = Pick<KnownFile, 'size' | 'mtimeMs' | 'ends'>

/** `same`: as it was. `grown`: what was known is its beginning. `other`: not known, or another content. */
export type Change = 'same' | 'grown' | 'other'

/** A file as it is now, beside what was known of it. */
export interface Look {
  now: FileLook
  before: KnownFile | undefined
  change: Change
}

const END_BYTES = 4 * 1024

/** Looks at a file. Errors of the file system are thrown as they are. */
export async function lookAt(path: string, stats: Stats, known: KnownFile | undefined): Promise<Look> {
  const { size, mtimeMs } = stats
  // an earlier version did not look for the sessions that started others
  const isOutdated = known?.detected.kind === 'sessions' && known.detected.startedBy === undefined
  const before = isOutdated ? undefined : known
  const file = await open(path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(2 * END_BYTES)
    const endsAt = async (end: number): Promise<string> => {
      const length = Math.min(END_BYTES, end)
      const head = await file.read(buffer, 0, length, 0)
      const tail = await file.read(buffer, head.bytesRead, length, end - length)
      return hashOf(buffer.subarray(0, head.bytesRead + tail.bytesRead))
    }
    const log = await stat(`${path}-wal`).catch(() => null)
    // a database in this mode changes its log first
    const suffix = log === null ? '' : ` ${log.size} ${log.mtimeMs}`
    const now = { size, mtimeMs, ends: `${await endsAt(size)}${suffix}` }
    if (before === undefined) return { now, before, change: 'other' }
    if (before.size === size && before.mtimeMs === mtimeMs && before.ends === now.ends)
      return { now, before, change: 'same' }
    const isGrown = before.size < size && before.size > 0 && (await endsAt(before.size)) === before.ends
    return { now, before, change: isGrown ? 'grown' : 'other' }
  } finally {
    await file.close()
  }
}

/** Looks at a folder that is read as one file. It is the same or another; files in it may also shrink. */
export async function lookAtFolder(folder: string, before: KnownFile | undefined): Promise<Look> {
  const hash = createHash('sha256')
  const now = { size: 0, mtimeMs: 0, ends: '' }
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  for (const path of paths.sort()) {
    const stats = await stat(path).catch(() => null)
    if (stats === null) continue
    hash.update(`${path} ${stats.size} ${stats.mtimeMs}\n`)
    now.size += stats.size
    now.mtimeMs = Math.max(now.mtimeMs, stats.mtimeMs)
  }
  now.ends = hash.digest('hex').slice(0, 16)
  return { now, before, change: before?.ends === now.ends ? 'same' : 'other' }
}

const hashOf = (bytes: Uint8Array): string => Bun.hash.xxHash3(bytes).toString(36)
