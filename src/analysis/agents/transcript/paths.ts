// Reads paths of a transcript by the rules of the system that it was written on, which its folders and its paths show: the same
// on whatever system it is read. The results have `/`.

import { homedir } from 'node:os'
import { posix } from 'node:path'

const isWindowsPath = (path: string): boolean => /^(?:[A-Za-z]:[/\\]|\\\\)/.test(path)

/** The last part of a folder's path; empty for a root. */
export const folderName = (folder: string): string => posix.basename(slashed(folder, isWindowsPath(folder)))

/** Whether the folder is below another, and in no worktree there. */
export function isPartOf(folder: string, other: string): boolean {
  const isWindows = isWindowsPath(folder)
  const below = pathBelow(slashed(other, isWindows), slashed(folder, isWindows), isWindows)
  return below !== undefined && below !== '' && !/(?:^|\/)\.?worktrees\//.test(below)
}

interface SessionFolders {
  /** Relative paths are relative to this; undefined when it is not known. */
  base: string | undefined
  /** Paths in one of these are relative to it. */
  roots: readonly string[]
}

/**
 * The function that gives a path of a session relative to the root that contains it, to the innermost of several; another
 * one with `~` for a home folder. `home` is that of the user who runs this, wherever it is.
 */
export function pathsIn({ base, roots }: SessionFolders, home = homedir()): (path: string) => string {
  const ofWindows = [base ?? '', ...roots].some(isWindowsPath)
  const plainRoots = [
    ...new Set(roots.map((root) => posix.normalize(slashed(root, ofWindows)).replace(/\/+$/, ''))),
  ]
  plainRoots.sort((a, b) => b.length - a.length)
  const plainHome = slashed(home, isWindowsPath(home)).replace(/\/+$/, '')
  return (path) => {
    const isWindows = ofWindows || isWindowsPath(path)
    const plain = slashed(path, isWindows).replace(/^file:\/\/(?=\/)/, '')
    // a shell would replace these
    if (/^(?:~(?:\/|$)|\$\{?[A-Z]|%[A-Za-z])/.test(plain) && !plain.includes('/../'))
      return plain.replace(HOME_IN_NAME, '$1-~')
    const isWhole = isAbsolute(plain) || base === undefined || base.length + plain.length >= MAX_PATH
    const full = isWhole ? plain : `${slashed(base, isWindows)}/${plain}`
    const normal = posix.normalize(full)
    const inOwn = plainHome !== '' && pathBelow(plainHome, normal, isWindows) !== undefined
    const homeFolder = inOwn ? plainHome : (HOME_FOLDER.exec(normal)?.[0] ?? '')
    for (const root of plainRoots) {
      // the path would begin with a home folder in a root above the home folders, as `/`
      const inside = root.length < homeFolder.length ? undefined : pathBelow(root, normal, isWindows)
      // Claude Code makes its worktrees in the repository
      if (inside !== undefined) return inside.replace(/^\.claude\/worktrees\/[^/]+\/(?=.)/, '') || '.'
    }
    const short = homeFolder === '' ? normal : `~${normal.slice(homeFolder.length)}`
    return short.replace(HOME_IN_NAME, '$1-~')
  }
}

/** A path of a record that is longer stays as it was written. */
const MAX_PATH = 4096

/** Home folders of Linux, macOS, Solaris and Windows, also as WSL, Git Bash and macOS mount them. */
const HOME_FOLDER =
  /^(?:\/*(?:wsl\$|wsl\.localhost)\/[^/]+|\/*\?\/[A-Za-z]:|\/mnt\/[a-z]|\/[a-z]|[A-Za-z]:|\/(?:var|usr|export|private|data)|\/System\/Volumes\/Data)?(?:\/(?:home|Users)\/[^/]+|\/root(?=\/|$))(?=\/|$)/i
/** The folder of a session as Claude Code writes it in one name: `-home-ada-shop`. */
const HOME_IN_NAME = /(^|\/)-(home|Users)-[^-/]+/g

const isAbsolute = (plain: string): boolean => /^(?:\/|[A-Za-z]:\/)/.test(plain)

/** Writes `/` as the only separator. Git Bash and Cygwin write `/c/work` for `C:\work`. */
function slashed(path: string, isWindows: boolean): string {
  if (!isWindows) return path
  const plain = path.replaceAll('\\', '/')
  return plain.replace(
    /^(?:\/cygdrive)?\/([A-Za-z])(?=\/|$)/,
    (_all, drive: string) => `${drive.toUpperCase()}:`,
  )
}

/** The path below the folder, empty for the folder itself; undefined for one outside of it. */
function pathBelow(folder: string, path: string, isWindows: boolean): string | undefined {
  const [a, b] = isWindows ? [folder.toLowerCase(), path.toLowerCase()] : [folder, path]
  if (a === b) return ''
  return b.startsWith(`${a}/`) ? path.slice(folder.length + 1) : undefined
}
