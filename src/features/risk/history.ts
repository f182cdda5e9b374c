// Holds the history of a project before a pull request, commit by commit, as its risk is computed from it.

import { firstAtLeast } from '../../analysis/scoring/binary-search.ts'
import type { ChangeHistory } from './coupling.ts'
import { percentile } from './impact.ts'

export interface CommittedFile {
  /** its name in the commit */
  path: string
  /** the name it has now */
  file: string
  deleted: boolean
}

export interface CommittedChange {
  at: number
  files: readonly CommittedFile[]
}

/** The last change of a name; not valid any more when its commit has left the history. */
interface LastChange {
  commit: number
  file: string
  deleted: boolean
}

/** The commits of a project in a time window that advances: names of files, change sets and hotspots. */
interface MovingHistory extends ChangeHistory {
  /** Adds later commits, in order of time, then removes those before `from` and all but the latest `limit`. */
  advance(commits: readonly CommittedChange[], from: number, limit: number): void
  /** The current name of the file that had this name; the name itself if the history does not contain it. */
  nameNow(path: string): string
  /** The largest percentile of changes × percentile of lines of these files. `lines` has all files of the history. */
  hotspot(files: readonly string[], lines: ReadonlyMap<string, number>): number
}

export function createHistory(): MovingHistory {
  const commits = new Map<number, { at: number; changeSet: ReadonlySet<string> }>()
  const revisions = new Map<string, Set<ReadonlySet<string>>>()
  const revisionsOf = (file: string): number => revisions.get(file)?.size ?? 0
  /**
   * The changes that a file shares with each file, of those that were asked for: kept up to date while the history moves on.
   * Counted for each pull request, 1,000 of them over the same 2,000 commits would look at the same change sets 15,000 times.
   */
  const shared = new Map<string, Map<string, number>>()
  const addShared = (counts: Map<string, number> | undefined, changes: ReadonlySet<string>, by: 1 | -1) => {
    if (counts === undefined) return
    for (const other of changes) {
      const times = (counts.get(other) ?? 0) + by
      if (times === 0) counts.delete(other)
      else counts.set(other, times)
    }
  }
  const countShared = (file: string) => {
    const counts = new Map<string, number>()
    for (const changeSet of revisions.get(file) ?? []) addShared(counts, changeSet, 1)
    return counts
  }
  /** File count by number of changes. */
  const filesWith: number[] = []
  /** The lines of all files, ascending; undefined when files were added or removed since. */
  let sizes: { lines: ReadonlyMap<string, number>; sorted: Float64Array } | undefined
  const byName = new Map<string, LastChange>()
  const byFile = new Map<string, LastChange>()
  let next = 0
  let first = 0

  const count = (before: number, after: number) => {
    if (before > 0) filesWith[before] = (filesWith[before] ?? 0) - 1
    if (after > 0) filesWith[after] = (filesWith[after] ?? 0) + 1
    if (before === 0 || after === 0) sizes = undefined
  }
  const add = ({ at, files }: CommittedChange) => {
    const changeSet = new Set(files.map(({ file }) => file))
    for (const { path, file, deleted } of files) {
      const change = { commit: next, file, deleted }
      byName.set(path, change)
      // a commit may delete a file and rename another to its name
      if (byFile.get(file)?.commit !== next || !deleted) byFile.set(file, change)
    }
    for (const file of changeSet) {
      addShared(shared.get(file), changeSet, 1)
      const changeSets = revisions.getOrInsertComputed(file, () => new Set()).add(changeSet)
      count(changeSets.size - 1, changeSets.size)
    }
    commits.set(next, { at, changeSet })
    next += 1
  }

  const removeFirst = (changeSet: ReadonlySet<string>) => {
    for (const file of changeSet) {
      addShared(shared.get(file), changeSet, -1)
      const changeSets = revisions.get(file)
      if (changeSets?.delete(changeSet) !== true) continue
      if (changeSets.size === 0) {
        revisions.delete(file)
        shared.delete(file)
      }
      count(changeSets.size + 1, changeSets.size)
    }
    commits.delete(first)
    first += 1
  }

  const ifPresent = (change: LastChange | undefined): LastChange | undefined =>
    change !== undefined && change.commit >= first ? change : undefined
  /** Counts files with less changes. */
  const filesBelow = (changes: number): number => {
    let files = 0
    for (let fewer = 1; fewer < changes; fewer++) files += filesWith[fewer] ?? 0
    return files
  }
  const sizesBy = (lines: ReadonlyMap<string, number>): Float64Array => {
    if (sizes?.lines !== lines) {
      const sorted = Float64Array.from(revisions.keys(), (file) => lines.get(file) ?? 0).sort()
      sizes = { lines, sorted }
    }
    return sizes.sorted
  }

  return {
    advance(later, from, limit) {
      for (const commit of later) add(commit)
      for (const { at, changeSet } of commits.values()) {
        if (at >= from && commits.size <= limit) break
        removeFirst(changeSet)
      }
    },
    nameNow: (path) => ifPresent(byName.get(path))?.file ?? path,
    revisions: revisionsOf,
    shared: (file) => shared.getOrInsertComputed(file, countShared),
    isDeleted: (file) => ifPresent(byFile.get(file))?.deleted ?? false,
    hotspot(files, lines) {
      const sorted = sizesBy(lines)
      const hotspots = files.map((file) => {
        if (!revisions.has(file)) return 0
        const byChanges = percentile(filesBelow(revisionsOf(file)), revisions.size)
        return byChanges * percentile(firstAtLeast(sorted, lines.get(file) ?? 0), revisions.size)
      })
      return hotspots.reduce((highest, hotspot) => Math.max(highest, hotspot), 0)
    },
  }
}
