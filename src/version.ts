import { version } from '../package.json'

/** The version of this build, from package.json. */
export const VERSION = version

/** The facts that `bun run build` writes into the executable that it makes. */
export interface Build {
  /** The commit of the sources, with `-dirty` where they were changed since; null: not known. */
  commit: string | null
  /** The system it is for, as `linux-x64`. */
  target: string
}

// a constant that the compiler replaces; run from source there is none
declare const COMPILED_BUILD: Build | undefined

export const BUILD: Build =
  typeof COMPILED_BUILD === 'undefined'
    ? { commit: null, target: `${process.platform}-${process.arch}` }
    : COMPILED_BUILD

/** A text like `0.1.0 (commit 4919659d6a6a)`: builds of one version have different commits. */
export const VERSION_AND_COMMIT = `${VERSION} (${BUILD.commit === null ? 'of an unknown commit' : `commit ${shortOf(BUILD.commit)}`})`

function shortOf(commit: string): string {
  return commit.replace(/^([0-9a-f]{12})[0-9a-f]*/, '$1')
}
