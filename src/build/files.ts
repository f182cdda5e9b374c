// Paths of the repository, its package.json files, and `writeByRename`, for the scripts of the build.

import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

export const ROOT = resolve(import.meta.dir, '../..')

export const readPackage = (folder = '') =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))

/** Writes a file by rename, so that an interrupted or concurrent build never leaves a part of it. */
export function writeByRename(path: string, content: Uint8Array | string): void {
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, content)
  renameSync(temporary, path)
}
