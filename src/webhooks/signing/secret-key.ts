import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { codeOf, OperatorError } from '../../base/errors.ts'
import type { Config } from '../../config.ts'

// The key that encrypts webhook secrets: the setting SECRET_KEY, or a file in the data directory.

const FILE = 'secret.key'
export const KEY_BYTES = 32
const OWNER_ONLY = 0o600
const OTHERS = 0o077
/** There the folder's access list says who may read a file, and folders cannot be flushed. */
const IS_WINDOWS = process.platform === 'win32'
/** Errors of `link` on file systems without hard links. */
const NO_LINKS = new Set(['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'])

/**
 * The 32 bytes of the setting, or of `secret.key` in the data directory, which is created with mode 0600 when
 * it is missing. Processes that start together use the same file. Throws OperatorError when it cannot be read
 * or created.
 */
export function loadSecretKey(config: Pick<Config, 'secretKey' | 'dataDir'>): Uint8Array {
  const file = join(config.dataDir, FILE)
  return findSecretKey(config) ?? explained(file, () => makeKey(file, randomBytes(KEY_BYTES)))
}

function explained<Result>(file: string, run: () => Result): Result {
  try {
    return run()
  } catch (error) {
    const code = codeOf(error)
    if (error instanceof OperatorError || code === undefined) throw error
    throw new OperatorError(
      `the key that encrypts webhook secrets cannot be read or made in ${file} (${code}): set SECRET_KEY to 32 bytes in base64 (openssl rand -base64 32)`,
    )
  }
}

/** The 32 bytes of the setting or of `secret.key`; undefined when there is neither. Throws as `loadSecretKey` does. */
export function findSecretKey({
  secretKey,
  dataDir,
}: Pick<Config, 'secretKey' | 'dataDir'>): Uint8Array | undefined {
  const file = join(dataDir, FILE)
  return secretKey ?? explained(file, () => readKey(file))
}

/** Writes `secret.key` into the data directory, which has none. Throws OperatorError when it has another one. */
export function saveSecretKey(dataDir: string, key: Uint8Array): void {
  const file = join(dataDir, FILE)
  if (!Buffer.from(makeKey(file, key)).equals(key))
    throw new OperatorError(`${file} is another key: move it away first`)
}

/** Undefined when there is no file. */
function readKey(file: string): Uint8Array | undefined {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if ((stats.mode & OTHERS) !== 0 && !IS_WINDOWS) removeAccessOfOthers(file)
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64')
  if (key.length === KEY_BYTES) return new Uint8Array(key)
  throw new OperatorError(
    `${file} does not hold ${KEY_BYTES} bytes in base64: restore it from a backup, or set SECRET_KEY`,
  )
}

function removeAccessOfOthers(file: string): void {
  try {
    chmodSync(file, OWNER_ONLY)
  } catch (error) {
    throw new OperatorError(
      `others may read ${file}, and that cannot be changed (${codeOf(error)}): chmod 600 it, or set SECRET_KEY`,
    )
  }
}

/**
 * Writes the key, unless another process was first, and returns the one that is there. A draft is linked to its name, so
 * that no process reads a part.
 */
function makeKey(file: string, key: Uint8Array): Uint8Array {
  const folder = dirname(file)
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const draft = `${file}.${process.pid}-${randomBytes(4).toString('hex')}`
  try {
    writeFileSync(draft, `${Buffer.from(key).toString('base64')}\n`, {
      flag: 'wx',
      mode: OWNER_ONLY,
      flush: true,
    })
    // a command that root runs makes the file for the user of the server, to whom the folder belongs
    const { uid, gid } = statSync(folder)
    if (process.getuid?.() === 0) chownSync(draft, uid, gid)
    linkOrCopy(draft, file)
    // without this, a power failure may lose the file, and with it the key
    if (!IS_WINDOWS) for (const path of [file, folder]) flush(path)
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error
  } finally {
    rmSync(draft, { force: true })
  }
  const made = readKey(file)
  if (made === undefined) throw new OperatorError(`${file} was removed while it was made`)
  return made
}

function linkOrCopy(draft: string, file: string): void {
  try {
    linkSync(draft, file)
  } catch (error) {
    if (!NO_LINKS.has(codeOf(error) ?? '')) throw error
    copyFileSync(draft, file, constants.COPYFILE_EXCL)
  }
}

function flush(path: string): void {
  const descriptor = openSync(path, 'r')
  fsyncSync(descriptor)
  closeSync(descriptor)
}
