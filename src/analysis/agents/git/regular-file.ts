// Opens and reads files of agents and of git only where they are regular: anything may lie there. A pipe waits for a writer, a
// device may have no end, or do something when it is opened.

import { closeSync, constants, fstatSync, openSync, readFileSync, statSync } from 'node:fs'
import { basename } from 'node:path'

export const NOT_REGULAR = 'not a regular file'

/** Thrown for what is there and is not read. */
class PassedOver extends Error {}

/** Whether there is something else than a regular file. */
export function isIrregular(path: string): boolean {
  try {
    return !statSync(path).isFile()
  } catch {
    return false
  }
}

/** Opens a regular file. Throws for anything else, also where it takes the file's place now. `isSeen`: it was just looked at. */
export function openRegular(path: string, isSeen = false): number {
  if (!isSeen && isIrregular(path)) throw new PassedOver(NOT_REGULAR)
  // to open a pipe without this flag, which Windows has not, waits for its writer
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0))
  if (isSeen || fstatSync(file).isFile()) return file
  closeSync(file)
  throw new PassedOver(NOT_REGULAR)
}

const MAX_BYTES = 64 * 1024 * 1024

/** The text of a file, of 64 MiB at most; null where it cannot be read. `onPassed` is told of what is there and is not read. */
export function readText(path: string, onPassed: (path: string, reason: string) => void): string | null {
  try {
    const file = openRegular(path)
    try {
      if (fstatSync(file).size > MAX_BYTES) throw new PassedOver(`larger than ${MAX_BYTES / 1024 / 1024} MiB`)
      return readFileSync(file, 'utf8')
    } finally {
      closeSync(file)
    }
  } catch (error) {
    if (error instanceof PassedOver) onPassed(path, error.message)
    return null
  }
}

/** Names of files with credentials, which are never opened, and of those that are read only where they are named. */
const PRIVATE = /^(?:\.credentials|auth|oauth_creds|credentials|\.claude)\.json$/i
export const isPrivate = (path: string): boolean => PRIVATE.test(basename(path))
