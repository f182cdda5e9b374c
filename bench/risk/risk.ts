import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type ChangeMeasures, defectPercent, regressionTerms } from '../../src/features/risk/regression.ts'
import { reportPullRequests } from './pull-requests.ts'
import { areaUnderCurve, dot, fitLogistic } from './statistics.ts'

// Measures how well the regression score separates commits that introduced a defect from others: area under the ROC
// curve on the public commit sets of Zeng et al., "Deep just-in-time defect prediction: how far are we?" (ISSTA
// 2021), labelled by SZZ. `bun run bench:risk`; exit code 1 when a mean is below GOAL. `bun run bench:risk REPOSITORY…` measures
// the parts and the total on the pull requests of git repositories that have their whole history.

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
  const repositories = process.argv.slice(2)
  if (repositories.length > 0) await reportPullRequests(repositories)
  else if (!hasCommitSets()) print('bench:risk skipped: ../shared/data/jit is not there')
  else if (!report(await evaluate())) process.exitCode = 1
}
