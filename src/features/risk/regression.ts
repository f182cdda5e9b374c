// The probability that a change introduces a defect: logistic regression on six measures of Kamei et al., "A large-scale
// empirical study of just-in-time quality assurance" (TSE 2013). Pure.

import type { CommitFile } from '../../analysis/records/commit.ts'
import { componentOf, MOST_LINES, type ScoreComponent } from './contributions.ts'

export type ChangedFile = Pick<CommitFile, 'path' | 'additions' | 'deletions'>

interface ChangeMeasures {
  la: number
  ld: number
  nf: number
  /** directories */
  nd: number
  /** spread of the changed lines over the files, in bits */
  entropy: number
  /** 1 if the title names a fix */
  fix: number
}

/** fix, fixes, fixed, fixing, bug, bugfix, hotfix, defect …; not `fixture`, not `prefix`. */
const FIX = /\b(?:hot)?fix(?!tur)|\bbug|\bdefect/i

/** The measures of a change with this title; a file that is named twice counts twice. */
export function measureChange(files: readonly ChangedFile[], title: string): ChangeMeasures {
  const sum = (pick: (file: ChangedFile) => number) => files.reduce((total, file) => total + pick(file), 0)
  return {
    la: sum((file) => file.additions),
    ld: sum((file) => file.deletions),
    nf: files.length,
    nd: new Set(files.map((file) => file.path.slice(0, file.path.lastIndexOf('/') + 1))).size,
    entropy: entropyOf(files.map((file) => file.additions + file.deletions)),
    fix: FIX.test(title) ? 1 : 0,
  }
}

/** −Σ p·log2 p over the files' shares of the changed lines: 0 when all are in one file, log2 n when spread evenly over n. */
export function entropyOf(lines: readonly number[]): number {
  const total = lines.reduce((sum, count) => sum + count, 0)
  const bits = lines.reduce((sum, count) => {
    const share = count / total
    return count === 0 ? sum : sum - share * Math.log2(share)
  }, 0)
  return Math.max(0, bits)
}

interface Term {
  name: string
  value: (change: ChangeMeasures) => number
  weights: readonly number[]
  factors: (value: number) => number[]
}

const log = (value: number): number[] => [Math.log1p(value)]
const plain = (value: number): number[] => [value]
/** ln and its square: the tenth line adds more than the thousandth. */
const bent = (value: number): number[] => {
  const logarithm = Math.log1p(Math.min(value, MOST_LINES))
  return [logarithm, logarithm ** 2]
}

const INTERCEPT = -3.4438

/** Fitted on the commits of six projects of Zeng et al. (ISSTA 2021). docs/risk.md has its figures. */
const TERMS: readonly Term[] = [
  { name: 'lines_added', value: (change) => change.la, weights: [0.7529, -0.052], factors: bent },
  { name: 'lines_deleted', value: (change) => change.ld, weights: [0.087], factors: log },
  { name: 'files', value: (change) => change.nf, weights: [0.3892], factors: log },
  { name: 'directories', value: (change) => change.nd, weights: [-0.053], factors: log },
  { name: 'entropy', value: (change) => change.entropy, weights: [-0.0924], factors: plain },
  { name: 'fix', value: (change) => change.fix, weights: [0.9648], factors: plain },
]

const logitsOf = (change: ChangeMeasures): number[] =>
  TERMS.map(({ value, weights, factors }) =>
    factors(value(change)).reduce((sum, factor, index) => sum + factor * (weights[index] ?? 0), 0),
  )

const percent = (logit: number): number => 100 / (1 + Math.exp(-logit))

/**
 * 100·p of a change. `base` is the value of an empty change; the difference to it is distributed over the
 * terms in proportion to their parts of the logit: their Aumann–Shapley values ("integrated gradients").
 */
export function regressionScore(change: ChangeMeasures): ScoreComponent {
  const base = percent(INTERCEPT)
  const logits = logitsOf(change)
  const sum = logits.reduce((total, logit) => total + logit, 0)
  // a sum of 0 has the derivative at the intercept, which is the limit of the quotient
  const slope = sum === 0 ? (base * (100 - base)) / 100 : (percent(INTERCEPT + sum) - base) / sum
  return componentOf([
    { name: 'base', value: INTERCEPT, points: base },
    ...TERMS.map(({ name, value }, index) => ({
      name,
      value: value(change),
      points: slope * (logits[index] ?? 0),
    })),
  ])
}
