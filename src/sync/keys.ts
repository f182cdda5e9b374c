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
