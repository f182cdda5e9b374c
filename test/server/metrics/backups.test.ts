import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRegistry } from '../../../src/base/metrics/registry.ts'
import { measureBackups } from '../../../src/cli/serve/backup-and-disk-metrics.ts'
import { newBackupPath } from '../../../src/database/backup/folder.ts'
import { scratchFolder } from '../../support/at-end.ts'

test('the time of the newest backup is missing before the first, and then that of its name', async () => {
  const folder = scratchFolder()
  const backupDir = join(folder.path, 'backups')
  const registry = createRegistry()
  measureBackups(registry, { backupDir, dataDir: folder.path }, 3_600)
  const sample = async () =>
    /^cloud_analytics_backup_last_success_timestamp_seconds (.*)$/m.exec(await registry.text())?.[1]
  expect(await sample()).toBeUndefined()
  mkdirSync(backupDir)
  expect(await sample()).toBeUndefined()
  writeFileSync(newBackupPath(backupDir, new Date('2026-11-01T00:00:00Z')), '')
  expect(await sample()).toBe(String(Date.parse('2026-11-01T00:00:00Z') / 1_000))
  folder.remove()
})
