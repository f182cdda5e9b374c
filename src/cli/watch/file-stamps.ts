// Reads size and time of all files below paths, by which `watch` and `status` notice which changed.

import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { statsOf } from '../../analysis/agents/known-files.ts'

/** Identifies a version of a file. */
export interface Stamp {
  size: number
  mtimeMs: number
}

const IGNORED_FOLDERS = new Set(['.git', 'node_modules'])

/** Size and time of every file below the paths. What cannot be read, or is gone meanwhile, is left out. */
export async function stampsOf(paths: readonly string[]): Promise<Map<string, Stamp>> {
  const stamps = new Map<string, Stamp>()
  const add = (path: string): void => {
    const stamp = stampOf(path)
    if (stamp !== undefined) stamps.set(path, stamp)
  }
  const walk = async (folder: string): Promise<void> => {
    const entries: Dirent[] = await readdir(folder, { withFileTypes: true }).catch(() => [])
    for (const entry of entries) {
      const path = join(folder, entry.name)
      if (!entry.isDirectory()) add(path)
      else if (!IGNORED_FOLDERS.has(entry.name)) await walk(path)
    }
  }
  for (const path of paths) {
    if (statsOf(path)?.isDirectory()) await walk(path)
    else {
      add(path)
      // a database in this mode changes its log first
      add(`${path}-wal`)
    }
  }
  return stamps
}

/** The stamp of a file; undefined when it is none. */
function stampOf(path: string): Stamp | undefined {
  const stats = statsOf(path)
  return stats?.isFile() ? { size: stats.size, mtimeMs: stats.mtimeMs } : undefined
}
