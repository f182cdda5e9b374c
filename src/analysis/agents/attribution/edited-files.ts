// Joins the files of a commit with the edits of agents that may have written its lines, for attribute.ts.

import { lineKeys } from '../git/effective-lines.ts'
import type { LoggedCommit, LoggedFile } from '../git/parse-log.ts'
import type { Blobs } from '../git/read-blobs.ts'
import type { Match } from './match.ts'
import type { WrittenEdit } from './written-edits.ts'

interface EditedFile {
  file: LoggedFile
  /** The newest first. */
  edits: WrittenEdit[]
  /** Keys of the lines that it had before the commit. */
  before: () => Promise<ReadonlySet<string>>
  /** The edits found so far, by the index of the line. */
  matches: (Match | undefined)[]
}

export interface EditedCommit {
  commit: LoggedCommit
  files: EditedFile[]
}

/** Adds to a commit the edits of its files. Files without added lines are left out. */
export const withEdits = (
  blobs: Blobs,
  commit: LoggedCommit,
  editsOf: (file: LoggedFile) => WrittenEdit[],
): EditedCommit => ({
  commit,
  files: commit.files.flatMap((file) => {
    if (file.lines.length === 0) return []
    let keys: Promise<ReadonlySet<string>> | undefined
    // most edits need no comparison with the earlier file, which takes as long as all else of a commit
    const before = () => {
      keys ??= keysBefore(blobs, commit, file)
      return keys
    }
    return { file, edits: editsOf(file), before, matches: [] }
  }),
})

async function keysBefore(
  blobs: Blobs,
  { sha }: LoggedCommit,
  { status, previousPath, path }: LoggedFile,
): Promise<ReadonlySet<string>> {
  if (status === 'added') return new Set()
  const [text] = await blobs.read([`${sha}^:${previousPath ?? path}`])
  return new Set(lineKeys(text?.split('\n') ?? []))
}
