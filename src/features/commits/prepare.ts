// Makes of a commit's record what is stored. A rename without its old name is a modification; of a file twice, the last
// counts.

import { type CommitFile, type CommitRecord, plainPath } from '../../analysis/records/commit.ts'
import { isBot } from '../../analysis/scoring/ownership.ts'
import { normalizeTimestamp } from '../../base/dates.ts'
import { asciiLower } from '../../base/text.ts'

export interface PreparedCommit {
  project: string
  sha: string
  authorEmail: string
  authorName: string
  committedAt: string
  subject: string | null
  bot: boolean
  files: PreparedFile[]
  /** SHA-256 of all above, files in order of their names: the same commit has the same hash. */
  hash: string
}

interface PreparedFile {
  path: string
  previousPath: string | null
  status: CommitFile['status']
  additions: number
  deletions: number
}

export function prepareCommit(record: CommitRecord): PreparedCommit {
  const authorEmail = asciiLower(record.author_email)
  const byPath = new Map(record.files.map((file) => [plainPath(file.path), preparedFile(file)]))
  const commit = {
    project: record.project,
    sha: record.sha,
    authorEmail,
    authorName: record.author_name,
    committedAt: normalizeTimestamp(record.committed_at),
    subject: record.subject ?? null,
    bot: isBot(record.author_name, authorEmail),
    files: [...byPath.values()].sort((a, b) => (a.path < b.path ? -1 : 1)),
  }
  return { ...commit, hash: new Bun.CryptoHasher('sha256').update(JSON.stringify(commit)).digest('hex') }
}

function preparedFile(file: CommitFile): PreparedFile {
  const path = plainPath(file.path)
  const previous = file.status === 'renamed' && file.previous_path ? plainPath(file.previous_path) : path
  const isRename = previous !== path
  return {
    path,
    previousPath: isRename ? previous : null,
    status: file.status === 'renamed' && !isRename ? 'modified' : file.status,
    additions: file.additions,
    deletions: file.deletions,
  }
}
