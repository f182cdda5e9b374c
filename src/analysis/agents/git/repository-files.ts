// Checks the files of a repository before git opens them, and whether a folder is a repository (a path of `sync`).

import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { OperatorError } from '../../../base/errors.ts'
import { isIrregular, NOT_REGULAR } from './regular-file.ts'

/** Files that git opens. It waits for the writer of one that is a pipe. */
const OPENED_BY_GIT = [
  'config',
  'config.worktree',
  'HEAD',
  'packed-refs',
  'shallow',
  'commondir',
  'info/grafts',
  'info/attributes',
  'objects/info/alternates',
]

/** Throws OperatorError where one of them is no regular file. */
export function checkFiles(root: string): void {
  const folder = existsSync(join(root, '.git')) ? join(root, '.git') : root
  const inside = OPENED_BY_GIT.map((name) => join(folder, name))
  const wrong = [...inside, join(root, '.gitattributes'), join(root, '.mailmap')].find(isIrregular)
  if (wrong !== undefined) throw new OperatorError(`git would wait for ${wrong}, which is ${NOT_REGULAR}`)
}

/** True for the folder of a repository: with a `.git` in it, or a bare one. */
export function isRepository(path: string): boolean {
  const has = (name: string) => existsSync(join(path, name))
  return (
    existsSync(path) &&
    statSync(path).isDirectory() &&
    (has('.git') || (has('HEAD') && has('objects') && has('refs')))
  )
}
