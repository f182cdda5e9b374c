import { addDays, DAY_MS } from '../dates.ts'
import type { Sql } from '../db/client.ts'
import { rebuildTables } from '../db/derived-tables.ts'
import { lockHistory, lockOrganization } from '../db/org-lock.ts'
import { OperatorError } from '../errors.ts'
import { derivedId } from '../ids.ts'
import { RISK_TABLES } from '../risk/check.ts'
import { couplingScore } from '../risk/coupling.ts'
import { impactScore } from '../risk/impact.ts'
import { type Lifecycle, riskParts } from '../risk/prepare.ts'
import { regressionScore } from '../risk/regression.ts'
import { securityPart } from '../risk/sensitive-paths.ts'
import type { RiskRow } from '../risk/store-write.ts'
import { PULL_REQUEST_PARTS } from '../usage/check.ts'
import { batchesOf, randomFrom, type SeedPlan } from './generate.ts'
import { copyRisks, hasRisksOf, refreshStatistics } from './queries.ts'

/** Scores in one COPY. */
const BATCH = 5_000
const TITLES = [
  'Add export',
  'Fix rounding',
  'Update dependencies',
  'Move settings',
  'Fix bug in login',
] as const
const PATHS = [
  'src/index.ts',
  'src/cart/sum.ts',
  'src/cart/sum.test.ts',
  'src/auth/login.ts',
  'package.json',
  'Dockerfile',
  '.github/workflows/ci.yml',
] as const

type RiskPlan = Pick<SeedPlan, 'projects' | 'days' | 'seed' | 'today'> & { risk: number }

const reposOf = ({ seed, projects }: RiskPlan): string[] =>
  Array.from({ length: projects }, (_, index) => `seed-${seed}/project-${String(index + 1).padStart(2, '0')}`)

/** Plausible scores of pull requests in order of time, spread evenly over the days. */
function* generateRisks(plan: RiskPlan): Generator<RiskRow> {
  const random = randomFrom(plan.seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const repos = reposOf(plan)
  const first = Date.parse(addDays(plan.today, -plan.days))
  const last = Date.parse(plan.today)
  for (let index = 0; index < plan.risk; index += 1) {
    const at = first + Math.floor(((index + random()) / plan.risk) * plan.days * DAY_MS)
    const repo = repos[below(repos.length)] ?? ''
    const title = TITLES[below(TITLES.length)] ?? TITLES[0]
    const files = 1 + Math.floor(random() ** 3 * 40)
    const entropy = Math.log2(files) * random()
    const nd = 1 + below(files)
    const fix = title.startsWith('Fix') ? 1 : 0
    const la = Math.floor(random() ** 4 * 3_000)
    const ld = below(1 + la)
    const lines = la + ld
    const parts = {
      impact: impactScore({ files, lines, entropy, hotspot: random() ** 2, singleOwned: below(files + 1) }),
      regression: regressionScore({ la, ld, nf: files, nd, entropy, fix }),
      security: securityPart(
        PATHS.filter(() => random() < 0.3).map((path) => ({ path, additions: la, deletions: ld })),
        { critical: 0, high: below(3), medium: below(3), low: below(3) },
      ),
      coupling: couplingScore(
        PATHS.slice(0, below(4)).map((file) => ({ file, degree: 30 + below(70) })),
        lines,
      ),
    }
    yield {
      id: derivedId('risk', repo, index + 1),
      repo,
      prNumber: index + 1,
      title,
      filesChanged: files,
      createdAt: new Date(at).toISOString(),
      inputHash: null,
      origin: null,
      lifecycle: lifecycleOf(index, at, last),
      ...riskParts(parts),
    }
  }
}

/** Two days after it was opened, every tenth is closed and the others are merged; then those of the last two days are open. */
function lifecycleOf(index: number, openedAt: number, now: number): Lifecycle {
  const known = { merge_commit: null, url: null, default_branch: null, author_email: null }
  const endsAt = openedAt + 2 * DAY_MS
  if (endsAt > now) return { ...known, state: 'open', merged_at: null, closed_at: null }
  const closed_at = new Date(endsAt).toISOString()
  if (index % 10 === 0) return { ...known, state: 'closed', merged_at: null, closed_at }
  return { ...known, state: 'merged', merged_at: closed_at, closed_at }
}

/** Writes the risk scores of `plan` in one transaction. Throws OperatorError if the seed has some. */
export async function seedRisks(
  sql: Sql,
  orgId: string,
  plan: RiskPlan,
  onProgress: (done: number) => void = () => {},
): Promise<void> {
  await sql.begin(async (tx) => {
    await lockHistory(tx, orgId)
    await lockOrganization(tx, orgId)
    if (await hasRisksOf(tx, orgId, reposOf(plan))) {
      throw new OperatorError(
        `risk scores of seed ${plan.seed} are there already: choose another with --seed`,
      )
    }
    let done = 0
    for (const rows of batchesOf(generateRisks(plan), BATCH)) {
      await copyRisks(tx, orgId, rows)
      done += rows.length
      onProgress(done)
    }
    await rebuildTables(tx, orgId, [...RISK_TABLES, PULL_REQUEST_PARTS])
  })
  await refreshStatistics(sql, 'risks')
}
