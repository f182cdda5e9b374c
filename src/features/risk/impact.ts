// The impact of a change: hotspots after Tornhill, "Your Code as a Crime Scene" (change frequency × size), spread of the
// changed lines, and files with one owner or none. Pure.

import { componentOf, extentOf, type ScoreComponent } from './contributions.ts'

/** Fitted on pull requests of public repositories, in steps of 10: docs/risk.md. */
const WEIGHTS = { hotspot: 40, entropy: 50, single_owner: 10 } as const

interface Impact {
  files: number
  /** changed */
  lines: number
  /** spread of the changed lines over the files, in bits */
  entropy: number
  /** the maximum over the files, 0 to 1 */
  hotspot: number
  /** files that at most one author changed before */
  singleOwned: number
}

/** The percentile of a value of which `less` of `count` are smaller: 0 for the smallest or only one, 1 for the greatest. */
export const percentile = (less: number, count: number): number =>
  count <= 1 ? 0 : Math.min(1, less / (count - 1))

/** extent · (40·hotspot + 50·entropy/log2(max(files, 2)) + 10·share of files with one owner or none). */
export function impactScore({ files, lines, entropy, hotspot, singleOwned }: Impact): ScoreComponent {
  const extent = extentOf(lines)
  const share = files === 0 ? 0 : singleOwned / files
  return componentOf([
    { name: 'hotspot', value: hotspot, points: extent * WEIGHTS.hotspot * hotspot },
    {
      name: 'entropy',
      value: entropy,
      points: extent * WEIGHTS.entropy * Math.min(1, entropy / Math.log2(Math.max(files, 2))),
    },
    { name: 'single_owner', value: share, points: extent * WEIGHTS.single_owner * share },
  ])
}
