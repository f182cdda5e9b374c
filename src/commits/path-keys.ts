import type { ISql } from '../db/client.ts'

/** A key within the organization: a project, and the hash of a commit, the name of a file or a directory of it. */
export interface Key {
  project: string
  name: string
}

/** Keys as a table `(project, name)`. */
export const keyTable = (tx: ISql, keys: readonly Key[]) => tx`
  unnest(
    ${keys.map((key) => key.project)}::text[],
    ${keys.map((key) => key.name)}::text[]
  )`

/** The keys without repetitions. */
export const distinctKeys = (keys: readonly Key[]): Key[] => [
  ...new Map(keys.map((key) => [`${key.project}\0${key.name}`, key])).values(),
]

/** The entries of the commits with these keys, as the table `f`. */
export const entriesOfCommits = (tx: ISql, orgId: string, commits: readonly Key[]) => tx`
  ${keyTable(tx, commits)} as n (project, sha)
  join commit_files f on f.org_id = ${orgId} and f.project = n.project and f.sha = n.sha`

/** The entries of the files with these keys, by the names they have now, as the table `f`. */
export const entriesOfFiles = (tx: ISql, orgId: string, files: readonly Key[]) => tx`
  ${keyTable(tx, files)} as n (project, file)
  join commit_files f on f.org_id = ${orgId} and f.project = n.project and f.file = n.file`
