// Files that usually change together (Gall, Hajek and Jazayeri, "Detection of logical coupling based on
// product release history", ICSM 1998), with the usual thresholds, those of Tornhill's Code Maat. Pure.

import { componentOf, extentOf, type ScoreComponent } from './contributions.ts'

/** Mean revisions of the two files, at least. */
const MIN_REVISIONS = 5
/** Changes of both files together, at least. */
const MIN_SHARED = 5
/** Least degree of coupling, in percent. */
const MIN_DEGREE = 30
/** Missing files, each counted as its degree, of which 1 − 1/e (63 %) of the points come. */
const SCALE = 10
/** Missing files that are named: those of the greatest degree. */
const MAX_NAMED = 10

export interface ChangeHistory {
  revisions(file: string): number
  shared(file: string): ReadonlyMap<string, number>
  isDeleted(file: string): boolean
}

/** A file that usually changes together with a file of the change, but is not part of it. */
export interface MissingFile {
  file: string
  /** Percent: the greatest degree with a file of the change. */
  degree: number
}

/** 100 × shared changes / mean changes of the two; undefined below one of the thresholds. */
export function couplingDegree(shared: number, revisionsA: number, revisionsB: number): number | undefined {
  const mean = (revisionsA + revisionsB) / 2
  if (shared < MIN_SHARED || mean < MIN_REVISIONS) return undefined
  const degree = (100 * shared) / mean
  return degree < MIN_DEGREE ? undefined : degree
}

/** The files that usually change with these and are not among them, by degree, then by name. Deleted files are left out. */
export function missingFiles(history: ChangeHistory, changed: ReadonlySet<string>): MissingFile[] {
  const closest = new Map<string, number>()
  for (const file of changed) {
    for (const [other, count] of history.shared(file)) {
      // most: looked at first, that takes a fifth of the time
      if (count < MIN_SHARED || changed.has(other)) continue
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
 * 100·(1 − exp(−x/10)), with x the sum of the missing files' degrees (a degree of 100 is 1), for a change of 1,000
 * lines; the extent's share of it for a smaller one. Each file has points in proportion to its degree; those after the
 * tenth are one contribution, `others`, whose value is their number.
 */
export function couplingScore(missing: readonly MissingFile[], lines: number): ScoreComponent {
  const degreeSum = (files: readonly MissingFile[]) => files.reduce((sum, { degree }) => sum + degree, 0)
  const sum = degreeSum(missing)
  const score = 100 * (1 - Math.exp(-sum / 100 / SCALE)) * extentOf(lines)
  const others = missing.slice(MAX_NAMED)
  const contributions = missing.slice(0, MAX_NAMED).map(({ file, degree }) => ({
    name: file,
    value: degree,
    points: (score * degree) / sum,
  }))
  if (others.length === 0) return componentOf(contributions)
  return componentOf([
    ...contributions,
    { name: 'others', value: others.length, points: (score * degreeSum(others)) / sum },
  ])
}
