// Keeps which lines (as keys) and commits agents wrote on this machine, for commits that come later; sync-state.ts stores it.

import { once } from '../../../base/memoize.ts'
import { compareText } from '../../../base/text.ts'
import { firstAtLeast } from '../../scoring/binary-search.ts'
import { splitKeys } from '../git/effective-lines.ts'
import { isObject } from '../transcript/json.ts'
import type { MadeCommit, WrittenEdit } from './written-edits.ts'

/** An edit, or a commit, as it is kept. `added`: when this machine read it first, in ms since 1970; 0 for an old one. */
export type StoredAction = (WrittenEdit | MadeCommit) & { added: number }

/** The actions of earlier runs, by id, and of this one. */
interface Store {
  get(kind: 'written', id: string): StoredAction | undefined
  set(kind: 'written', id: string, action: StoredAction): void
  list(kind: 'written'): Iterable<[id: string, action: StoredAction]>
}

type IsWanted = (edit: WrittenEdit) => boolean

/** Longer than lines may be used, and longer than the last count of what survives. */
export const KEPT_MS = 60 * 86_400_000
/** Git never cuts a hash further. */
const SHA_START = 4

export function createWritten(store: Store, now: () => number) {
  const ids = new Set<string>()
  const edits = new Map<string, WrittenEdit[]>()
  const commits = new Map<string, MadeCommit[]>()
  const all: StoredAction[] = []
  let inFiles: Float64Array | undefined

  const keep = (action: StoredAction): boolean => {
    if (ids.has(action.id)) return false
    ids.add(action.id)
    all.push(action)
    if ('sha' in action) pushTo(commits, action.sha.slice(0, SHA_START), action)
    else {
      pushTo(edits, action.path, action)
      inFiles = undefined
    }
    return true
  }
  return {
    /** Reads what is kept: before, things can only be added. */
    load: once(() => {
      for (const [, action] of store.list('written')) keep(action)
    }),
    /** Adds what is not known yet. */
    add(actions: readonly (WrittenEdit | MadeCommit)[]) {
      for (const action of actions) {
        // one that is too old to be kept is read again with its file, and is not new then
        const isOld = action.at < now() - KEPT_MS
        const storedAction = { ...action, added: isOld ? 0 : now() }
        if (store.get('written', storedAction.id) === undefined && keep(storedAction) && !isOld)
          store.set('written', storedAction.id, storedAction)
      }
    },
    /** Whether a file has such an edit. */
    has: (repository: string, path: string, isWanted: IsWanted): boolean =>
      edits.get(path)?.some((edit) => isIn(edit, repository) && isWanted(edit)) === true,
    /** The edits of files that wrote lines of one of the keys, the newest first. */
    editsOf(
      repository: string,
      paths: readonly string[],
      keys: ReadonlySet<string>,
      isWanted: IsWanted,
    ): WrittenEdit[] {
      const matches = new Set<WrittenEdit>()
      for (const path of paths) {
        const byKey = new Map<string, WrittenEdit[]>()
        for (const edit of edits.get(path) ?? [])
          if (isIn(edit, repository) && isWanted(edit))
            for (const key of new Set(splitKeys(edit.keys))) if (keys.has(key)) pushTo(byKey, key, edit)
        for (const key of keys) for (const edit of byKey.get(key) ?? []) matches.add(edit)
      }
      return [...matches].sort((a, b) => b.at - a.at || compareText(a.id, b.id))
    },
    /** Counts the files in which sessions wrote a line of this key. */
    filesWith(key: string): number {
      inFiles ??= keysByFile(edits.values())
      const number = lineNumber(key)
      return firstAtLeast(inFiles, number + 1) - firstAtLeast(inFiles, number)
    },
    /** The sessions that noted the commit as their own. */
    makersOf: (sha: string): readonly MadeCommit[] =>
      (commits.get(sha.slice(0, SHA_START)) ?? []).filter((commit) => sha.startsWith(commit.sha)),
    /** The time of the first edit in the repository, or commit, that was added after this time, or of all; undefined for none. */
    firstSince(repository: string, since = -1): number | undefined {
      let first: number | undefined
      for (const action of all)
        if (
          action.added > since &&
          ('sha' in action || isIn(action, repository)) &&
          action.at < (first ?? Infinity)
        )
          first = action.at
      return first
    },
  }
}

export type Written = ReturnType<typeof createWritten>

/** A key has at most 46.5 bits. */
const lineNumber = (key: string): number => Number.parseInt(key, 36)

/** The keys of all files in order, each once for a file: in 8 bytes, where a Map of keys takes 100. */
function keysByFile(files: Iterable<readonly WrittenEdit[]>): Float64Array {
  const numbers: number[] = []
  for (const edits of files)
    for (const key of new Set(edits.flatMap(({ keys }) => splitKeys(keys)))) numbers.push(lineNumber(key))
  return Float64Array.from(numbers).sort()
}

/** An edit that is not known to be in a repository may be in any. */
const isIn = (edit: WrittenEdit, repository: string): boolean =>
  edit.repository === null || edit.repository === repository

const pushTo = <Item>(lists: Map<string, Item[]>, key: string, item: Item) =>
  lists.getOrInsertComputed(key, () => []).push(item)

export const isStoredAction = (value: unknown): value is StoredAction =>
  isObject(value) &&
  typeof value.id === 'string' &&
  typeof value.session === 'string' &&
  typeof value.at === 'number' &&
  typeof value.added === 'number' &&
  (typeof value.sha === 'string' || (typeof value.path === 'string' && typeof value.keys === 'string'))
