import { basename, dirname } from 'node:path'
import { extentOf } from '../../src/features/risk/contributions.ts'
import { couplingScore } from '../../src/features/risk/coupling.ts'
import { impactScore } from '../../src/features/risk/impact.ts'
import { riskScoreOf } from '../../src/features/risk/prepare.ts'
import { regressionScore } from '../../src/features/risk/regression.ts'
import { securityComponent } from '../../src/features/risk/sensitive-paths.ts'
import { type PullRequest, readPullRequests } from './repository.ts'
import { areaUnderCurve, fitLogistic } from './statistics.ts'

// Measures the four parts and the total on whole pull requests of public repositories: how well each separates those that broke
// from others, how often those of each rating broke, and which weights of the impact these repositories give.

const PARTS = ['impact', 'regression', 'security', 'coupling'] as const
/** The bands of the rounded score, each up to its last one. */
const BANDS = { low: 30, medium: 60, high: 80, critical: 100 }
/** Nobody's sessions are known, so nobody's findings. */
const NO_FINDINGS = { critical: 0, high: 0, medium: 0, low: 0 }

interface Repository {
  name: string
  pulls: readonly PullRequest[]
}

type Scores = Record<(typeof PARTS)[number], number>

const print = (line: string) => process.stdout.write(`${line}\n`)
const row = (name: string, cells: readonly string[]) =>
  print(`${name.padEnd(24)}${cells.map((cell) => cell.padStart(11)).join('')}`)
const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
const percent = (part: number, whole: number) =>
  whole === 0 ? '-' : `${((100 * part) / whole).toFixed(1)} %`

const linesOf = ({ measures }: PullRequest) => measures.la + measures.ld

function scoresOf(pull: PullRequest): Scores {
  const { files, measures, hotspot, singleOwned, missing } = pull
  const lines = linesOf(pull)
  return {
    impact: impactScore({ files: files.length, lines, entropy: measures.entropy, hotspot, singleOwned })
      .score,
    regression: regressionScore(measures).score,
    security: securityComponent(files, NO_FINDINGS).score,
    coupling: couplingScore(missing, lines).score,
  }
}

/** The regression score and the measures of the impact, each in the unit in which impactScore weighs it. */
function impactTerms(pull: PullRequest): number[] {
  const { files, measures, hotspot, singleOwned } = pull
  const extent = extentOf(linesOf(pull))
  const entropy = measures.entropy / Math.log2(Math.max(files.length, 2))
  return [
    regressionScore(measures).score / 100,
    extent * hotspot,
    extent * entropy,
    (extent * singleOwned) / files.length,
  ]
}

/**
 * Weights of hotspot, entropy and single_owner that add up to 100: logistic regression beside the regression score, each
 * repository with an intercept of its own.
 */
function impactWeights(repositories: readonly Repository[]): number[] {
  const rows = repositories.flatMap(({ pulls }, own) =>
    pulls.map((pull) => [
      ...impactTerms(pull),
      ...repositories.slice(1).map((_other, index) => (index + 1 === own ? 1 : 0)),
    ]),
  )
  const labels = repositories.flatMap(({ pulls }) => pulls.map(({ broke }) => broke))
  const weights = fitLogistic(rows, labels).slice(2, 5)
  const sum = weights.reduce((total, weight) => total + weight, 0)
  return weights.map((weight) => (100 * weight) / sum)
}

/** `gitDirs`: repositories with their whole history. */
export async function reportPullRequests(gitDirs: readonly string[]): Promise<void> {
  const repositories: Repository[] = []
  for (const gitDir of gitDirs) {
    // `flask/.git` and `pallets+flask/repo` are named by their folder
    const name = /^(?:\.git|repo)$/.test(basename(gitDir)) ? basename(dirname(gitDir)) : basename(gitDir)
    repositories.push({ name, pulls: await readPullRequests(gitDir) })
  }
  print('AUC of the parts and of the total on whole pull requests\n')
  row('', ['pulls', 'broke', ...PARTS, 'total', 'best part'])
  const all: { score: number; broke: boolean }[] = []
  const tables = repositories.map(({ name, pulls }) => {
    const scored = pulls.map((pull) => ({ scores: scoresOf(pull), isDefect: pull.broke }))
    const aucOf = (pick: (scores: Scores) => number) =>
      areaUnderCurve(scored.map(({ scores, isDefect }) => ({ score: pick(scores), isDefect })))
    const parts = PARTS.map((part) => aucOf((scores) => scores[part]))
    const aucs = [...parts, aucOf(riskScoreOf), Math.max(...parts)]
    const broken = pulls.filter(({ broke }) => broke).length
    row(name, [String(pulls.length), percent(broken, pulls.length), ...aucs.map((auc) => auc.toFixed(4))])
    for (const { scores, isDefect } of scored) {
      all.push({ score: riskScoreOf(scores), broke: isDefect })
    }
    return { aucs, full: scored.filter(({ scores }) => scores.coupling >= 90).length }
  })
  const means = (tables[0]?.aucs ?? []).map((_auc, index) => mean(tables.map(({ aucs }) => aucs[index] ?? 0)))
  row('mean', ['', '', ...means.map((auc) => auc.toFixed(4))])
  print(`\ncoupling of 90 or more: ${tables.reduce((sum, { full }) => sum + full, 0)} of ${all.length}`)
  row('\nrating', ['pulls', 'broke'])
  let before = -1
  for (const [rating, last] of Object.entries(BANDS)) {
    const own = all.filter(({ score }) => score > before && score <= last)
    before = last
    row(rating, [String(own.length), percent(own.filter(({ broke }) => broke).length, own.length)])
  }
  row('\nimpact, fitted on', ['hotspot', 'entropy', 'owner'])
  const fits = repositories.length < 2 ? [] : repositories
  for (const left of fits) {
    const weights = impactWeights(repositories.filter((one) => one !== left))
    row(
      `all but ${left.name}`.slice(0, 24),
      weights.map((weight) => weight.toFixed(0)),
    )
  }
  row(
    'all',
    impactWeights(repositories).map((weight) => weight.toFixed(0)),
  )
}
