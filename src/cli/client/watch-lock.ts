// The lock of the running `watch`, by which others see that it runs.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { noSpaceError } from '../../base/errors.ts'
import { lockFile } from '../../base/file-lock.ts'

/** Others hold the lock for an instant when they ask whether it is held. */
const WAIT_MS = 500

/** Takes the lock of the user's one `watch`; undefined when another process holds it. */
export function takeLock(folder: string): { release(): void } | undefined {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  try {
    return lockFile(join(folder, 'watch.lock'), WAIT_MS)
  } catch (error) {
    throw noSpaceError(error, folder) ?? error
  }
}

export function isLockHeld(folder: string): boolean {
  const lock = takeLock(folder)
  lock?.release()
  return lock === undefined
}
