// Names the project of sessions, commits and pull requests by git's own files: to start git for each folder takes longer.

import { statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, resolve } from 'node:path'
import { readText } from './regular-file.ts'

interface Repository {
  /** The last part of the URL of `origin`, else the name of the folder of its main worktree. */
  name: string
  /** The top folder of the folder's worktree, and that of the main worktree where this is another one. */
  roots: readonly string[]
}

export type FindRepository = (folder: string) => Repository | null
/** Told of a file of git that is not read. */
type OnPassed = (path: string, reason: string) => void

/**
 * Finds the repository of a folder; null for one that is in none, is not on this machine or is no absolute path of its
 * system. Remembers every folder that it looked at, for as long as a run takes.
 */
export function createRepositoryFinder(onPassed: OnPassed = () => {}): FindRepository {
  const repositories = new Map<string, Repository | null>()
  const findAbove = (folder: string): Repository | null => {
    const at = repositoryAt(folder, onPassed)
    const parent = dirname(folder)
    return at !== null || parent === folder ? at : repositories.getOrInsertComputed(parent, findAbove)
  }
  // a folder that is gone may have had a repository of its own: those of the folders above it say nothing
  return (folder) =>
    repositories.getOrInsertComputed(folder, () => (isFolder(folder) ? findAbove(resolve(folder)) : null))
}

/** The last part of a URL or path of a repository, without `.git`; null for one without a name. */
export function nameOfRemote(url: string): string | null {
  // a query may hold a token, and what comes before the host a password
  const [path = ''] = url.trim().split(/[?#]/, 1)
  const parts = path.replace(/^([a-z+]+:\/\/)[^/@]*@/i, '$1').split(/[/\\]/)
  // no pattern of what may follow the name: one of 40 slashes took a second
  const last = parts.findLastIndex((part) => part !== '' && part !== '.git')
  const name = parts[Math.max(last, 0)]
    ?.split(':')
    .at(-1)
    ?.replace(/\.git$/, '')
  return name === undefined || /^\.*$/.test(name) ? null : name
}

/**
 * Windows takes `/Users/x` for a path of its current drive; there it is a path of another system. To look at one of another
 * computer would sign in there: of these only WSL's are looked at.
 */
const OF_WINDOWS = /^[a-z]:[\\/]|^\\\\wsl(?:\$|\.localhost)\\/i

function isFolder(path: string): boolean {
  if (!isAbsolute(path) || (process.platform === 'win32' && !OF_WINDOWS.test(path))) return false
  return kindOf(path) === 'folder'
}

function kindOf(path: string): 'folder' | 'file' | undefined {
  try {
    const stats = statSync(path, { throwIfNoEntry: false })
    if (stats === undefined) return undefined
    return stats.isDirectory() ? 'folder' : 'file'
  } catch {
    return undefined
  }
}

/** The repository whose worktree, or bare folder, begins at this folder. */
function repositoryAt(folder: string, onPassed: OnPassed): Repository | null {
  const gitFolder = gitFolderOf(folder, onPassed)
  if (gitFolder === null) return null
  const shared = readText(join(gitFolder, 'commondir'), onPassed)?.trim()
  const isLinked = shared !== undefined
  const common = isLinked ? resolve(gitFolder, shared) : gitFolder
  const config = readText(join(common, 'config'), onPassed) ?? ''
  const main = isLinked ? mainWorktree(common, config) : folder
  const origin = settingOf(config, 'remote "origin"', 'url')
  const name = (origin === null ? null : nameOfRemote(origin)) ?? nameOfFolder(main ?? common)
  return { name, roots: [...new Set([folder, main ?? folder])] }
}

/** The folder `.git`, or the one that a file of this name names (a linked worktree, a submodule), or a bare repository. */
export function gitFolderOf(folder: string, onPassed: OnPassed): string | null {
  const place = join(folder, '.git')
  const kind = kindOf(place)
  if (kind === 'file') {
    const target = /^gitdir: (.+)$/m.exec(readText(place, onPassed) ?? '')?.[1]?.trim()
    const gitFolder = target === undefined ? null : resolve(folder, target)
    return gitFolder !== null && kindOf(gitFolder) === 'folder' ? gitFolder : null
  }
  if (kind === 'folder') return kindOf(join(place, 'HEAD')) === undefined ? null : place
  const isBare = ['HEAD', 'objects', 'refs'].every((name) => kindOf(join(folder, name)) !== undefined)
  return isBare ? folder : null
}

/** The main worktree of the repository with this common folder; null for a bare one. */
function mainWorktree(common: string, config: string): string | null {
  if (basename(common) === '.git') return dirname(common)
  const ofSubmodule = settingOf(config, 'core', 'worktree')
  return ofSubmodule === null ? null : resolve(common, ofSubmodule)
}

function nameOfFolder(folder: string): string {
  const name = basename(folder)
  return (name.startsWith('.') ? basename(dirname(folder)) : name.replace(/\.git$/, '')) || 'repository'
}

/** Returns the first value of a setting in the text of a git configuration. */
export function settingOf(config: string, section: string, key: string): string | null {
  let current = ''
  for (const line of config.split('\n')) {
    const header = /^\s*\[\s*(\w+)(?:\s+("(?:[^"\\]|\\.)*"))?\s*\]/.exec(line)
    if (header !== null) current = [header[1]?.toLowerCase(), header[2]].filter(Boolean).join(' ')
    const setting = /^\s*(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^#;]*))/.exec(line)
    if (header !== null || current !== section || setting?.[1]?.toLowerCase() !== key) continue
    return (setting[2] ?? setting[3] ?? '').replace(/\\(.)/g, '$1').trim()
  }
  return null
}
