// Writes a backup's file in compressed blocks, which gets its name when it is whole, and removes files of interrupted ones.

import { constants, readdirSync, rmSync } from 'node:fs'
import { open, rename } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { codeOf, messageOf, OperatorError } from '../../base/errors.ts'
import { syncPath } from '../disk.ts'
import { signatureFrame, trailerOf } from './format.ts'
import { backupSignature } from './signature.ts'

/** Compressed at a time: larger blocks compress by 1 % better and need more memory. */
const BLOCK_BYTES = 4 * 1024 * 1024
const OWNER_ONLY = 0o600

/** Creates a file next to `path` for its owner alone; one that a killed process left is removed by the next backup. */
export async function createBackupFile(path: string) {
  const target = resolve(path)
  const folder = dirname(target)
  const temporary = `${target}.${process.pid}${PARTIAL}`
  const handle = await explained(path, async () => {
    removePartials(folder)
    return await open(temporary, constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY, OWNER_ONLY)
  })
  const hasher = new Bun.CryptoHasher('sha256')
  let parts: Buffer[] = []
  let size = 0
  let written = 0
  let previous: Promise<void> = Promise.resolve()

  const writeBlock = async (bytes: Buffer<ArrayBuffer>) => {
    const frame = await Bun.zstdCompress(bytes)
    hasher.update(frame)
    await handle.writeFile(frame)
    written += frame.length
  }
  const flush = async () => {
    await previous
    // compressed by another thread while the next block is filled
    previous = writeBlock(Buffer.concat(parts))
    // awaited by the next call, and until then no unhandled rejection
    previous.catch(() => {})
    ;[parts, size] = [[], 0]
  }
  return {
    write: (bytes: Buffer | string) =>
      explained(path, async () => {
        const part = typeof bytes === 'string' ? Buffer.from(bytes) : bytes
        parts.push(part)
        size += part.length
        if (size >= BLOCK_BYTES) await flush()
      }),
    /** Signs the file by the key, if any, flushes it and gives it its name, in place of an older one. Returns its bytes. */
    finish: (key: Uint8Array | undefined): Promise<number> =>
      explained(path, async () => {
        if (size > 0) await flush()
        await previous
        const signature =
          key === undefined ? Buffer.alloc(0) : signatureFrame(backupSignature(key, hasher.copy().digest()))
        const trailer = Buffer.concat([signature, trailerOf(hasher.update(signature).digest())])
        await handle.writeFile(trailer)
        await handle.sync()
        await handle.close()
        await rename(temporary, target)
        // Windows opens no folder, and writes names through
        if (process.platform !== 'win32') await syncPath(folder)
        return written + trailer.length
      }),
    async abandon() {
      await previous.catch(() => {})
      await handle.close().catch(() => {})
      rmSync(temporary, { force: true })
    },
  }
}

/** A backup that is being written; the file has its name only after `finish`. */
export type BackupFile = Awaited<ReturnType<typeof createBackupFile>>

const PARTIAL = '.partial'
const PARTIAL_NAME = /\.(\d+)\.partial$/

/** Removes the unfinished backups in a folder whose processes have ended. */
export function removePartials(folder: string): void {
  for (const name of readdirSync(folder)) {
    const pid = PARTIAL_NAME.exec(basename(name))?.[1]
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(folder, name), { force: true })
  }
}

function isRunning(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

async function explained<Result>(path: string, run: () => Promise<Result>): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    if (codeOf(error) === undefined) throw error
    if (/^(ENOSPC|EDQUOT)$/.test(codeOf(error) ?? ''))
      throw new OperatorError(
        `no space left for ${path}: free some on the disk of its folder; what was written of it is removed`,
      )
    throw new OperatorError(`${path} cannot be written: ${messageOf(error)}`)
  }
}
