import { partOf, type ScorePart } from './contributions.ts'

// The impact of a change: hotspots after Tornhill, "Your Code as a Crime Scene" (change frequency × size), spread, and files
// with one owner or none. The weights are our own choice. Pure.

const WEIGHTS = { hotspot: 40, spread: 20, entropy: 20, single_owner: 20 } as const
/** Number of files from which the spread has its full points. */
const FULL_SPREAD = 20

interface Impact {
  files: number
  /** spread of the changed lines over the files, in bits */
  entropy: number
  /** the maximum over the files, 0 to 1 */
  hotspot: number
  /** files that at most one author changed before */
  singleOwned: number
}

/**
 * The percentile of a value among `count` values of which `less` are smaller: 0 for the smallest, 1 for the
 * greatest; 0 if it is the only one.
 */
export const percentile = (less: number, count: number): number =>
  count <= 1 ? 0 : Math.min(1, less / (count - 1))

/** 40·hotspot + 20·min(1, files/20) + 20·entropy/log2(max(files, 2)) + 20·share of files with one owner or none. */
export function impactScore({ files, entropy, hotspot, singleOwned }: Impact): ScorePart {
  const share = files === 0 ? 0 : singleOwned / files
  return partOf([
    { name: 'hotspot', value: hotspot, points: WEIGHTS.hotspot * hotspot },
    { name: 'spread', value: files, points: WEIGHTS.spread * Math.min(1, files / FULL_SPREAD) },
    {
      name: 'entropy',
      value: entropy,
      points: WEIGHTS.entropy * Math.min(1, entropy / Math.log2(Math.max(files, 2))),
    },
    { name: 'single_owner', value: share, points: WEIGHTS.single_owner * share },
  ])
}
