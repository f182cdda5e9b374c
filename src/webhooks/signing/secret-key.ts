import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { codeOf, OperatorError } from '../../base/errors.ts'
import type { Config } from '../../config.ts'

// The key that encrypts webhook secrets: the setting SECRET_KEY, or `secret.key` in the data directory, of mode 0600. All throw
// OperatorError where the file cannot be read or made.

export const KEY_BYTES = 32

type Place = Pick<Config, 'secretKey' | 'dataDir'>

const fileIn = (dataDir: string): string => join(dataDir, 'secret.key')

/** The 32 bytes of the setting or of the file; undefined when there is neither. */
export const findSecretKey = ({ secretKey, dataDir }: Place): Uint8Array | undefined =>
  secretKey ?? (existsSync(fileIn(dataDir)) ? explained(fileIn(dataDir), readKey) : undefined)

/** The same; the file is made when it is missing. Processes that start together use the same one. */
export const loadSecretKey = (place: Place): Uint8Array =>
  findSecretKey(place) ?? makeKey(place.dataDir, randomBytes(KEY_BYTES))

/** Writes the key into the data directory. Throws OperatorError when it has another one. */
export function saveSecretKey(dataDir: string, key: Uint8Array): void {
  if (!Buffer.from(makeKey(dataDir, key)).equals(key))
    throw new OperatorError(`${fileIn(dataDir)} is another key: move it away first`)
}

function readKey(file: string): Uint8Array {
  if ((statSync(file).mode & 0o077) !== 0 && process.platform !== 'win32') chmodSync(file, 0o600)
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'base64')
  if (key.length === KEY_BYTES) return new Uint8Array(key)
  throw new OperatorError(
    `${file} does not hold ${KEY_BYTES} bytes in base64: restore it from a backup, or set SECRET_KEY`,
  )
}

/** Writes the key, unless another process was first, and returns the one that is there. */
const makeKey = (dataDir: string, key: Uint8Array): Uint8Array =>
  explained(fileIn(dataDir), (file) => {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 })
    // a draft gets the name when it is whole: no process reads a part
    const draft = `${file}.${process.pid}`
    writeFileSync(draft, `${Buffer.from(key).toString('base64')}\n`, { mode: 0o600, flush: true })
    try {
      // a command that root runs makes the file for the user of the server, to whom the folder belongs
      const { uid, gid } = statSync(dataDir)
      if (process.getuid?.() === 0) chownSync(draft, uid, gid)
      linkSync(draft, file)
    } catch (error) {
      // on a file system without links
      if (codeOf(error) !== 'EEXIST' && !existsSync(file)) copyFileSync(draft, file)
    } finally {
      rmSync(draft, { force: true })
    }
    return readKey(file)
  })

function explained(file: string, use: (file: string) => Uint8Array): Uint8Array {
  try {
    return use(file)
  } catch (error) {
    if (error instanceof OperatorError) throw error
    throw new OperatorError(
      `the key that encrypts webhook secrets cannot be read or made in ${file} (${codeOf(error)}): set SECRET_KEY to 32 bytes in base64 (openssl rand -base64 32)`,
    )
  }
}
