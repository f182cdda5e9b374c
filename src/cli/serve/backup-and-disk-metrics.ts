// Publishes metrics of the backups and disks of a server.

import type { Registry } from '../../base/metrics/registry.ts'
import type { Config } from '../../config.ts'
import { backupFolderOf, findFailure, listBackups } from '../../database/backup/folder.ts'
import { spaceOf } from '../../database/disk.ts'
import type { BackupResult } from './backups.ts'

/** Adds the backups that `serve` makes every `everyS` seconds. Returns what counts them. */
export function measureBackups(
  registry: Registry,
  config: Pick<Config, 'backupDir' | 'dataDir'>,
  everyS: number,
): (result: BackupResult) => void {
  const folder = backupFolderOf(config)
  const results = registry.counter({
    name: 'cloud_analytics_backups_total',
    help: 'Backups of this instance since its start, made or failed.',
    labels: ['result'],
  })
  const counters = { made: results('made'), failed: results('failed') }
  // the note for doctor may not be writable either, where the disk is full
  let last: BackupResult | undefined
  registry.gauges(() => ({ newest: newestBackup(folder) }), {
    cloud_analytics_backup_last_success_timestamp_seconds: {
      help: 'Time of the newest backup in BACKUP_DIR, Unix time; missing before the first.',
      of: ({ newest }) => newest,
    },
    cloud_analytics_backup_failed: {
      help: 'Whether the last backup failed, 1 or 0, also before a restart; doctor says why.',
      of: () => Number(last === 'failed' || findFailure(config.dataDir) !== undefined),
    },
    cloud_analytics_backup_every_seconds: {
      help: 'BACKUP_EVERY, the time between two backups.',
      of: () => everyS,
    },
  })
  return (result) => {
    last = result
    counters[result].add()
  }
}

/** Undefined before the first one, whose age would be that of Unix time, and when the folder cannot be read. */
function newestBackup(folder: string): number | undefined {
  try {
    const newest = listBackups(folder).at(-1)
    return newest && newest.at.getTime() / 1_000
  } catch {
    return undefined
  }
}

/** Free space and size; none where they cannot be read. */
function spacesOf(folders: Record<string, string>) {
  return Object.entries(folders).flatMap(([name, folder]) => {
    try {
      return { labels: [name], ...spaceOf(folder) }
    } catch {
      return []
    }
  })
}

/** Adds the file systems of the folders, by what is in them. Read on each scrape: a call of the system, no disk access. */
export function measureDisks(registry: Registry, folders: Record<string, string>): void {
  registry.gauges(() => spacesOf(folders), {
    cloud_analytics_disk_free_bytes: {
      help: 'Free space of the file system of a folder: data is DATA_DIR, backups is BACKUP_DIR.',
      labels: ['folder'],
      of: (spaces) => spaces.map(({ labels, free }) => ({ labels, value: free })),
    },
    cloud_analytics_disk_size_bytes: {
      help: 'Size of the file system of a folder.',
      labels: ['folder'],
      of: (spaces) => spaces.map(({ labels, size }) => ({ labels, value: size })),
    },
  })
}
