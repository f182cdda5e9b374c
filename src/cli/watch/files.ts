import { type Dirent, type FSWatcher, watch as watchFolder } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { statsOf } from '../../agents/known-files.ts'
import type { Stamp } from './changes.ts'

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
export function stampOf(path: string): Stamp | undefined {
  const stats = statsOf(path)
  return stats?.isFile() ? { size: stats.size, mtimeMs: stats.mtimeMs } : undefined
}

/**
 * Calls `onChange` with the path of what changed below the folders, or null when that is not known. Where the system
 * reports no changes (a network's file system, too many folders) nothing is called: looking is the truth.
 */
export function watchFolders(
  folders: readonly string[],
  onChange: (path: string | null) => void,
): { close(): void } {
  const watchers: FSWatcher[] = []
  for (const folder of folders) {
    try {
      const watcher = watchFolder(folder, { recursive: true, persistent: false }, (_event, name) =>
        onChange(name === null ? null : join(folder, name)),
      )
      watcher.on('error', () => watcher.close())
      watchers.push(watcher)
    } catch {
      // it may be gone meanwhile, as above
    }
  }
  return {
    close() {
      for (const watcher of watchers) watcher.close()
    },
  }
}
