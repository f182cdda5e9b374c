// Tells the version, commit and target of this program; `versionOf` makes the version of a build.

import { version } from '../../package.json'

/** The facts that `bun run build` writes into the executable that it makes. */
export interface Build {
  /** The version of package.json, with `+` and the commit unless it is that of a release: two builds never say the same. */
  version: string
  /** The commit of the sources, with `-dirty` where they were changed since; null: not known. */
  commit: string | null
  /** The system it is for, as `linux-x64`. */
  target: string
}

// a constant that the compiler replaces; run from source there is none
declare const COMPILED_BUILD: Build | undefined

export const BUILD: Build =
  typeof COMPILED_BUILD === 'undefined'
    ? { version, commit: null, target: `${process.platform}-${process.arch}` }
    : COMPILED_BUILD

export const VERSION = BUILD.version

const COMMIT = BUILD.commit?.replace(/^([0-9a-f]{12})[0-9a-f]*/, '$1')

/** A text like `0.1.0 (commit 4919659d6a6a)`. */
export const VERSION_AND_COMMIT = `${VERSION} (${COMMIT === undefined ? 'of an unknown commit' : `commit ${COMMIT}`})`

/** The version of a build of `commit`: `0.3.0-dev+961f8f6`. */
export const versionOf = (commit: string | null): string =>
  commit === null ? version : `${version}+${commit.replace(/^([0-9a-f]{7})[0-9a-f]*/, '$1')}`
