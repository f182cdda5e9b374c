import { leastShared } from './coupling.ts'

// Counts the common changes of each pair of files. They are kept up to date while the history moves on instead of
// counted for every pull request: 1,000 of them over the same 2,000 commits would look at the same change sets 15,000
// times. The functions are pure.

/** Counts of the files that may be coupled with one file. */
interface PairCounts {
  shared: Map<string, number>
  /** Changes of the file after which files that are not counted may be coupled with it too. */
  changesLeft: number
}

/** `changeSets` and `revisions`: of the history as it is now. */
export function createPartners(
  changeSets: (file: string) => Iterable<ReadonlySet<string>>,
  revisions: (file: string) => number,
) {
  const known = new Map<string, PairCounts>()
  const count = (file: string): PairCounts => {
    const all = new Map<string, number>()
    for (const changeSet of changeSets(file)) {
      for (const other of changeSet) if (other !== file) all.set(other, (all.get(other) ?? 0) + 1)
    }
    const least = leastShared(revisions(file))
    // each change adds one shared change at most, and lowers `leastShared` by one at most: what has less than `least
    // - 2 * changesLeft` now cannot reach it in `changesLeft` changes
    const changesLeft = Math.floor(least / 4)
    const shared = new Map([...all].filter(([, times]) => times >= least - 2 * changesLeft))
    return { shared, changesLeft }
  }
  return {
    /** A change set was added to the history (1) or removed from it (-1). Call it before the change sets have changed. */
    note(changeSet: ReadonlySet<string>, by: 1 | -1) {
      for (const file of changeSet) {
        const counted = known.get(file)
        if (counted === undefined) continue
        if (counted.changesLeft === 0) {
          known.delete(file)
          continue
        }
        counted.changesLeft -= 1
        for (const other of changeSet) {
          const times = counted.shared.get(other)
          if (times !== undefined) counted.shared.set(other, times + by)
        }
      }
    },
    /** The changes shared with each file that may be coupled with `file`, and with some that are not. */
    of: (file: string): ReadonlyMap<string, number> => known.getOrInsertComputed(file, count).shared,
  }
}
