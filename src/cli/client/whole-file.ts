// Writes files completely or not at all: private ones in the program's folder, others with a given mode (services, hooks).

import { chmodSync, closeSync, mkdirSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { codeOf, messageOf, noSpaceError, OperatorError } from '../../base/errors.ts'

const OWNER_ONLY = { folder: 0o700, file: 0o600 }

/** Writes a file for its owner alone, completely or not at all, in the program's own folder, which is closed to others. */
export function writePrivate(path: string, content: string | Uint8Array): void {
  createFolder(path)
  replaceFile(path, content, OWNER_ONLY.file)
}

/** Creates such a file, empty, unless there is one. */
export function createPrivate(path: string): void {
  try {
    createFolder(path)
    closeSync(openSync(path, 'a', OWNER_ONLY.file))
  } catch (error) {
    throw writeError(path, error)
  }
}

function createFolder(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: OWNER_ONLY.folder })
  chmodSync(dirname(path), OWNER_ONLY.folder)
}

/** Writes a file completely or not at all: also after a crash of the machine it has the old content or the new one. */
export function replaceFile(path: string, content: string | Uint8Array, mode: number): void {
  const temporary = `${path}.${process.pid}.tmp`
  // left by a process of the same number that was killed
  rmSync(temporary, { force: true })
  try {
    // `wx`: never through a link that someone else put there
    writeFileSync(temporary, content, { mode, flag: 'wx', flush: true })
    // the mode above is reduced by the umask
    chmodSync(temporary, mode)
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw writeError(path, error)
  }
}

/** Names the file: the error of a full disk does not. */
export const writeError = (path: string, error: unknown): OperatorError =>
  noSpaceError(error, path) ??
  new OperatorError(`${path} cannot be written (${codeOf(error) ?? messageOf(error)})`)
