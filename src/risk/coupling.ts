import { partOf, type ScorePart } from './contributions.ts'

// Files that usually change together (Gall, Hajek and Jazayeri, "Detection of logical coupling based on
// product release history", ICSM 1998), with the usual thresholds, those of Tornhill's Code Maat. Pure.

/** Mean revisions of the two files, at least. */
const MIN_REVISIONS = 5
/** Changes of both files together, at least. */
const MIN_SHARED = 5
/** Least degree of coupling, in percent. */
const MIN_DEGREE = 30
/** The probability that a missing file was forgotten if its degree is 100. Our own choice. */
const MISSING_WEIGHT = 0.5
/** Missing files that count: those of the greatest degree. */
const MAX_MISSING = 10

/** The files that changed together. */
export interface ChangeHistory {
  /** Number of changes of a file. */
  revisions(file: string): number
  /** The changes shared with each file that may be coupled with it; others may be missing. */
  shared(file: string): ReadonlyMap<string, number>
  isDeleted(file: string): boolean
}

/** A file that usually changes together with a file of the change, but is not part of it. */
export interface MissingFile {
  file: string
  /** in percent: the greatest degree with a file of the change */
  degree: number
}

/** 100 × shared changes / mean changes of the two; undefined below one of the thresholds. */
export function couplingDegree(shared: number, revisionsA: number, revisionsB: number): number | undefined {
  const mean = (revisionsA + revisionsB) / 2
  if (shared < MIN_SHARED || mean < MIN_REVISIONS) return undefined
  const degree = (100 * shared) / mean
  return degree < MIN_DEGREE ? undefined : degree
}

/**
 * The least number of shared changes of a file with so many changes and any other: below it, couplingDegree is undefined,
 * as the other has at least one change.
 */
export const leastShared = (revisions: number): number =>
  Math.max(MIN_SHARED, Math.ceil((MIN_DEGREE * revisions) / 200))

/** The files that usually change with these and are not among them, by degree, then by name. Deleted files are left out. */
export function missingFiles(history: ChangeHistory, changed: ReadonlySet<string>): MissingFile[] {
  const closest = new Map<string, number>()
  for (const file of changed) {
    for (const [other, count] of history.shared(file)) {
      if (changed.has(other)) continue
      const degree = couplingDegree(count, history.revisions(file), history.revisions(other))
      if (degree === undefined || history.isDeleted(other)) continue
      closest.set(other, Math.max(degree, closest.get(other) ?? 0))
    }
  }
  return [...closest]
    .map(([file, degree]) => ({ file, degree }))
    .sort((a, b) => b.degree - a.degree || (a.file < b.file ? -1 : 1))
}

/**
 * 100·(1 − Π (1 − degree/100 · 0.5)) over the 10 closest missing files: the chance that one of them was
 * forgotten. Each file's points are in proportion to the logarithm of its factor.
 */
export function couplingScore(missing: readonly MissingFile[]): ScorePart {
  const counted = missing.slice(0, MAX_MISSING)
  const logs = counted.map(({ degree }) => Math.log(1 - (degree / 100) * MISSING_WEIGHT))
  const sum = logs.reduce((total, log) => total + log, 0)
  const score = 100 * (1 - Math.exp(sum))
  return partOf(
    counted.map(({ file, degree }, index) => ({
      name: file,
      value: degree,
      points: (score * (logs[index] ?? 0)) / sum,
    })),
  )
}
