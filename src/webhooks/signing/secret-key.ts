// The key that encrypts webhook secrets: the setting SECRET_KEY, or `secret.key` in the data directory, of mode 0600. All throw
// OperatorError where the file cannot be read or made.

import * as fs from 'node:fs'
import { join } from 'node:path'
import { codeOf, OperatorError } from '../../base/errors.ts'
import type { Config } from '../../config.ts'

export const KEY_BYTES = 32
type Place = Pick<Config, 'secretKey' | 'dataDir'>

/** The 32 bytes of the setting or of the file; undefined when there is neither. */
export const findSecretKey = ({ secretKey, dataDir }: Place): Uint8Array | undefined =>
  secretKey ?? (fs.existsSync(fileIn(dataDir)) ? keyIn(dataDir) : undefined)

/** The same; the file is made when it is missing. Processes that start together use the same one. */
export const loadSecretKey = (place: Place): Uint8Array =>
  findSecretKey(place) ?? keyIn(place.dataDir, crypto.getRandomValues(new Uint8Array(KEY_BYTES)))

/** Writes the key into the data directory. Throws OperatorError when it has another one. */
export function saveSecretKey(dataDir: string, key: Uint8Array): void {
  if (!Buffer.from(keyIn(dataDir, key)).equals(key))
    throw new OperatorError(`${fileIn(dataDir)} is another key: move it away first`)
}

const fileIn = (dataDir: string): string => join(dataDir, 'secret.key')

/** The key in the file, which is `newKey` unless another process was first. */
function keyIn(dataDir: string, newKey?: Uint8Array): Uint8Array {
  const file = fileIn(dataDir)
  try {
    if (newKey !== undefined) writeKey(dataDir, Buffer.from(newKey).toString('base64'))
    if ((fs.statSync(file).mode & 0o077) !== 0 && process.platform !== 'win32') fs.chmodSync(file, 0o600)
    const key = Buffer.from(fs.readFileSync(file, 'utf8').trim(), 'base64')
    if (key.length === KEY_BYTES) return new Uint8Array(key)
  } catch (error) {
    const what = `the key that encrypts webhook secrets cannot be read or made in ${file} (${codeOf(error)})`
    throw new OperatorError(`${what}: set SECRET_KEY to 32 bytes in base64 (openssl rand -base64 32)`)
  }
  const lacks = `${file} does not hold ${KEY_BYTES} bytes in base64`
  throw new OperatorError(`${lacks}: restore it from a backup, or set SECRET_KEY`)
}

function writeKey(dataDir: string, text: string): void {
  const [file, draft] = [fileIn(dataDir), `${fileIn(dataDir)}.${process.pid}`]
  fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  // a draft gets the name when it is whole: no process reads a part
  fs.writeFileSync(draft, `${text}\n`, { mode: 0o600, flush: true })
  // a command that root runs makes the file for the user of the server, to whom the folder belongs
  try {
    const { uid, gid } = fs.statSync(dataDir)
    if (process.getuid?.() === 0) fs.chownSync(draft, uid, gid)
    fs.linkSync(draft, file)
  } catch {
    // on a file system without links
    if (!fs.existsSync(file)) fs.copyFileSync(draft, file)
  } finally {
    fs.rmSync(draft, { force: true })
  }
}
