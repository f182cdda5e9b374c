import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type ChangeMeasures, defectPercent, regressionTerms } from '../../src/risk/regression.ts'

// How well the regression score separates commits that introduced a defect from others: area under the ROC
// curve on the public commit sets of Zeng et al., "Deep just-in-time defect prediction: how far are we?"
// (ISSTA 2021), labelled by SZZ. `bun run bench:risk`; exit code 1 when a mean is below GOAL.

const DATA = join(import.meta.dir, '../../../shared/data/jit/issta21-jit-dp')
const PROJECTS = ['gerrit', 'jdt', 'openstack', 'qt'] as const
/** The benchmark fails when a mean AUC is lower. */
const GOAL = 0.73
/** The paper tests on the last fifth of each project's commits in order of time. */
const TEST_SHARE = 0.2

/** AUC as published with the paper (its repository, ResultAnalysis/RQ4-T8/result.csv), tested on each project's last fifth. */
const PUBLISHED = [
  {
    name: 'LApredict, within or across',
    gerrit: 0.7495,
    jdt: 0.6757,
    openstack: 0.7491,
    qt: 0.7438,
    mean6: 0.7246,
  },
  { name: 'DeepJIT, within', gerrit: 0.7025, jdt: 0.6701, openstack: 0.7132, qt: 0.6927, mean6: 0.7065 },
  { name: 'CC2Vec, within', gerrit: 0.6986, jdt: 0.6653, openstack: 0.7227, qt: 0.6936, mean6: 0.7055 },
  { name: 'DeepJIT, across', gerrit: 0.6612, jdt: 0.6822, openstack: 0.709, qt: 0.6809, mean6: 0.6704 },
  { name: 'CC2Vec, across', gerrit: 0.6649, jdt: 0.7024, openstack: 0.7198, qt: 0.6856, mean6: 0.6753 },
] as const

type Project = (typeof PROJECTS)[number]

interface Commit {
  measures: ChangeMeasures
  isDefect: boolean
}

/** AUC of one model on one project: on all its commits, and on those that the paper tests on. */
interface Measured {
  all: number
  last: number
}

interface Evaluation {
  project: Project
  commits: number
  defects: number
  /** the formula as it scores pull requests */
  fixed: Measured
  /** the same terms with weights fitted on the other projects only */
  leftOut: Measured
}

/** True where the commit sets exist. */
export const hasCommitSets = (): boolean => existsSync(DATA)

async function readCommits(project: Project): Promise<Commit[]> {
  const text = await Bun.file(join(DATA, `${project}_k_feature.csv`)).text()
  const [head = '', ...lines] = text.trim().split('\n')
  const columns = head.split(',')
  const column = (name: string) => {
    const index = columns.indexOf(name)
    if (index === -1) throw new Error(`${project}: no column ${name}`)
    return (cells: readonly string[]) => Number(cells[index])
  }
  const [bug, la, ld, nf, nd, fix] = ['bug', 'la', 'ld', 'nf', 'nd', 'fix'].map(column)
  const entropy = column('entrophy')
  if (!bug || !la || !ld || !nf || !nd || !fix) throw new Error(`${project}: columns are missing`)
  return lines.map((line) => {
    const cells = line.split(',')
    return {
      isDefect: bug(cells) > 0,
      measures: {
        la: la(cells),
        ld: ld(cells),
        nf: nf(cells),
        nd: nd(cells),
        entropy: entropy(cells),
        fix: fix(cells),
      },
    }
  })
}

/** The chance that a commit with a defect has a greater score than one without; a tie is half a chance (Mann–Whitney U). */
function areaUnderCurve(scored: readonly { score: number; isDefect: boolean }[]): number {
  const ranked = scored.toSorted((a, b) => a.score - b.score)
  let rankSum = 0
  let defects = 0
  for (let start = 0; start < ranked.length; ) {
    let end = start
    while (end < ranked.length && ranked[end]?.score === ranked[start]?.score) end += 1
    const tied = ranked.slice(start, end).filter((commit) => commit.isDefect).length
    rankSum += (tied * (start + 1 + end)) / 2
    defects += tied
    start = end
  }
  return (rankSum - (defects * (defects + 1)) / 2) / (defects * (ranked.length - defects))
}

const MAX_STEPS = 25
/** Keeps the matrix from being singular; too small to change a weight's fourth decimal. */
const RIDGE: number = 1e-6

/** Weights of a logistic regression, the intercept first: Newton's method on the likelihood (IRLS). */
export function fitLogistic(rows: readonly number[][], labels: readonly boolean[]): number[] {
  const inputs = rows.map((row) => [1, ...row])
  const size = inputs[0]?.length ?? 0
  let weights = new Array<number>(size).fill(0)
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const hessian = weights.map((_weight, at) => weights.map((_other, to) => (at === to ? RIDGE : 0)))
    const gradient = weights.map((weight) => -RIDGE * weight)
    for (const [index, input] of inputs.entries()) {
      const p = 1 / (1 + Math.exp(-dot(weights, input)))
      const error = (labels[index] ? 1 : 0) - p
      for (const [at, value] of input.entries()) {
        gradient[at] = (gradient[at] ?? 0) + error * value
        const line = hessian[at] ?? []
        for (let to = 0; to < size; to += 1) {
          line[to] = (line[to] ?? 0) + p * (1 - p) * value * (input[to] ?? 0)
        }
      }
    }
    const move = solve(hessian, gradient)
    weights = weights.map((weight, at) => weight + (move[at] ?? 0))
    if (Math.max(...move.map(Math.abs)) < 1e-9) break
  }
  return weights
}

const dot = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0)

/** Solves matrix · x = vector by Gauss–Jordan elimination with pivots. */
function solve(matrix: readonly number[][], vector: readonly number[]): number[] {
  const rows = matrix.map((row, index) => [...row, vector[index] ?? 0])
  for (let column = 0; column < rows.length; column += 1) {
    const below = rows.slice(column).map((row) => Math.abs(row[column] ?? 0))
    const pivot = column + below.indexOf(Math.max(...below))
    const [chosen = [], other = []] = [rows[pivot], rows[column]]
    rows[pivot] = other
    rows[column] = chosen
    for (const [index, row] of rows.entries()) {
      if (index === column) continue
      const factor = (row[column] ?? 0) / (chosen[column] ?? 1)
      rows[index] = row.map((value, at) => value - factor * (chosen[at] ?? 0))
    }
  }
  return rows.map((row, index) => (row.at(-1) ?? 0) / (row[index] ?? 1))
}

function measure(commits: readonly Commit[], score: (measures: ChangeMeasures) => number): Measured {
  const scored = commits.map(({ measures, isDefect }) => ({ score: score(measures), isDefect }))
  const firstTested = Math.floor(scored.length * (1 - TEST_SHARE))
  return { all: areaUnderCurve(scored), last: areaUnderCurve(scored.slice(firstTested)) }
}

/** The regression score on each commit set, as it is and leave-one-project-out. */
export async function evaluate(): Promise<Evaluation[]> {
  const sets = await Promise.all(
    PROJECTS.map(async (project) => ({ project, commits: await readCommits(project) })),
  )
  return sets.map(({ project, commits }) => {
    const others = sets.flatMap((set) => (set.project === project ? [] : set.commits))
    const weights = fitLogistic(
      others.map(({ measures }) => regressionTerms(measures)),
      others.map(({ isDefect }) => isDefect),
    )
    return {
      project,
      commits: commits.length,
      defects: commits.filter(({ isDefect }) => isDefect).length,
      fixed: measure(commits, defectPercent),
      leftOut: measure(commits, (measures) => dot(weights, [1, ...regressionTerms(measures)])),
    }
  })
}

/** Mean over the projects, each counting alike. */
export const meanOf = (
  evaluations: readonly Evaluation[],
  pick: (evaluation: Evaluation) => number,
): number => evaluations.reduce((sum, evaluation) => sum + pick(evaluation), 0) / evaluations.length

const print = (line: string) => process.stdout.write(`${line}\n`)
const row = (name: string, cells: readonly string[]) =>
  print(`${name.padEnd(40)}${cells.map((cell) => cell.padStart(11)).join('')}`)

function report(evaluations: readonly Evaluation[]): boolean {
  const models = [
    { name: 'formula, all commits', pick: ({ fixed }: Evaluation) => fixed.all },
    { name: 'formula, last fifth', pick: ({ fixed }: Evaluation) => fixed.last },
    { name: 'leave one project out, all commits', pick: ({ leftOut }: Evaluation) => leftOut.all },
    { name: 'leave one project out, last fifth', pick: ({ leftOut }: Evaluation) => leftOut.last },
  ]
  print(
    'AUC of regression_score. The formula was fitted on the first four fifths of these projects (and two others);',
  )
  print('leave one project out fits the same terms on the other projects only.\n')
  row('', [...PROJECTS, 'mean'])
  row(
    'commits',
    evaluations.map(({ commits }) => String(commits)),
  )
  row(
    'with a defect',
    evaluations.map(({ commits, defects }) => `${((100 * defects) / commits).toFixed(1)} %`),
  )
  for (const { name, pick } of models) {
    row(
      name,
      [...evaluations.map(pick), meanOf(evaluations, pick)].map((auc) => auc.toFixed(4)),
    )
  }
  print('\nPublished with the data set, last fifth (mean of these four; of its six projects)')
  for (const { name, mean6, ...aucs } of PUBLISHED) {
    const own = PROJECTS.map((project) => aucs[project])
    const mean = own.reduce((sum, auc) => sum + auc, 0) / own.length
    row(
      name,
      [...own, mean, mean6].map((auc) => auc.toFixed(4)),
    )
  }
  const failed = models.filter(({ pick }) => meanOf(evaluations, pick) < GOAL)
  for (const { name } of failed) print(`\n${name}: the mean is below ${GOAL}`)
  return failed.length === 0
}

if (import.meta.main) {
  if (!hasCommitSets()) print('bench:risk skipped: ../shared/data/jit is not there')
  else if (!report(await evaluate())) process.exitCode = 1
}
