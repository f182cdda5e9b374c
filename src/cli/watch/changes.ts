// Keeps the files that were changed since they were last sent, and the time when they are due: after a time of quiet,
// or from time to time while they are being written to. Times are ms since 1970.

export interface Stamp {
  size: number
  mtimeMs: number
}

interface Pending {
  stamp: Stamp
  /** Time when the change was first seen. */
  firstMs: number
}

const isSame = (a: Stamp | undefined, b: Stamp): boolean =>
  a !== undefined && a.size === b.size && a.mtimeMs === b.mtimeMs

/** A file is due `quietMs` after it was written to, or `growingMs` after its first change that was not sent. */
export function createChanges(quietMs: number, growingMs: number) {
  const known = new Map<string, Stamp>()
  const changed = new Map<string, Pending>()
  return {
    /** A file is as this stamp says. */
    note(path: string, stamp: Stamp, nowMs: number) {
      const pending = changed.get(path)
      if (isSame(known.get(path), stamp)) changed.delete(path)
      else if (pending === undefined) changed.set(path, { stamp, firstMs: nowMs })
      else pending.stamp = stamp
    },
    /** Forgets the files for which this is true. */
    forget(isGone: (path: string) => boolean) {
      for (const files of [known, changed]) {
        for (const path of files.keys()) if (isGone(path)) files.delete(path)
      }
    },
    /** Returns the time when the next changed file is due; undefined when none is changed. */
    dueAtMs(): number | undefined {
      let dueMs: number | undefined
      for (const { stamp, firstMs } of changed.values()) {
        const atMs = Math.min(Math.max(stamp.mtimeMs, 0) + quietMs, firstMs + growingMs)
        if (dueMs === undefined || atMs < dueMs) dueMs = atMs
      }
      return dueMs
    },
    /** The changed files, to be passed to `sent` when they were sent. */
    pending: (): ReadonlyMap<string, Stamp> =>
      new Map([...changed].map(([path, { stamp }]) => [path, stamp])),
    /** These were sent at `startedMs`; with `withoutGrowing` not those that were being written to then. */
    sent(files: ReadonlyMap<string, Stamp>, startedMs: number, nowMs: number, withoutGrowing: boolean) {
      for (const [path, stamp] of files) {
        const pending = changed.get(path)
        const wasGrowing = startedMs - stamp.mtimeMs < quietMs
        if (!(withoutGrowing && wasGrowing)) {
          known.set(path, stamp)
          if (pending !== undefined && isSame(pending.stamp, stamp)) changed.delete(path)
        }
        const rest = changed.get(path)
        if (rest !== undefined) rest.firstMs = nowMs
      }
    },
  }
}
