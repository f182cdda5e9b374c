import { lineKeys } from '../git/effective-lines.ts'
import type { logCommits } from '../git/git-log.ts'
import type { LoggedCommit, LoggedFile } from '../git/parse-log.ts'
import { readBlobs } from '../git/read-blobs.ts'
import type { Match } from './match.ts'
import type { WrittenEdit } from './written-edits.ts'

/** A file of a commit with the edits that may have written its added lines. */
interface EditedFile {
  file: LoggedFile
  /** The newest first. */
  edits: WrittenEdit[]
  /** Keys of the lines that it had before the commit. */
  before: ReadonlySet<string>
  /** The edits found so far, by the index of the line. */
  matches: (Match | undefined)[]
}

export interface EditedCommit {
  commit: LoggedCommit
  files: EditedFile[]
}

/** Files whose earlier contents one git reads: a git for each commit took 5 ms, a third of all. */
const FILES_AT_A_TIME = 50

/** Adds to commits the edits of their files, and the lines that these files had before. Those without lines are left out. */
export async function* withEdits(
  root: string,
  commits: ReturnType<typeof logCommits>,
  editsOf: (commit: LoggedCommit, file: LoggedFile) => WrittenEdit[],
): AsyncGenerator<EditedCommit> {
  let waiting: EditedCommit[] = []
  let count = 0
  for await (const commit of commits) {
    if (commit.kind === 'unreadable' || !commit.hasLines) continue
    const files = commit.files.flatMap((file) =>
      file.lines.length === 0
        ? []
        : { file, edits: editsOf(commit, file), before: new Set<string>(), matches: [] },
    )
    waiting.push({ commit, files })
    count += files.length
    if (count < FILES_AT_A_TIME) continue
    yield* await withLinesBefore(root, waiting)
    waiting = []
    count = 0
  }
  yield* await withLinesBefore(root, waiting)
}

async function withLinesBefore(root: string, commits: EditedCommit[]): Promise<EditedCommit[]> {
  const changed = commits.flatMap(({ commit, files }) =>
    files.flatMap((edited) =>
      edited.edits.length === 0 || edited.file.status === 'added' ? [] : { sha: commit.sha, edited },
    ),
  )
  const names = changed.map(({ sha, edited }) => `${sha}^:${edited.file.previousPath ?? edited.file.path}`)
  const texts = await readBlobs(root, names)
  for (const [index, { edited }] of changed.entries())
    edited.before = new Set(lineKeys(texts[index]?.split('\n') ?? []))
  return commits
}
