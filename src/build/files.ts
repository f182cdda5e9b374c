import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

// Paths and files of the repository, for the build.

export const ROOT = resolve(import.meta.dir, '../..')

export const readPackage = (folder = '') =>
  JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))

/** Writes a file by rename, so that an interrupted or concurrent build never leaves a part of it. */
export function replaceFile(path: string, content: Uint8Array | string): void {
  const temporary = `${path}.${process.pid}`
  writeFileSync(temporary, content)
  renameSync(temporary, path)
}
