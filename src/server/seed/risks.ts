// Makes up pull requests and entries of the audit log.

import type { AuditRecord } from '../../analysis/records/audit.ts'
import type { PrRiskRecord } from '../../analysis/records/risk.ts'
import { addDays, DAY_MS } from '../../base/dates.ts'
import { couplingScore } from '../../features/risk/coupling.ts'
import { impactScore } from '../../features/risk/impact.ts'
import { componentsOf } from '../../features/risk/prepare.ts'
import { regressionScore } from '../../features/risk/regression.ts'
import { securityComponent } from '../../features/risk/sensitive-paths.ts'
import { lifecycleOf, MEMBERS, randomFrom, type SeedPlan, ticketOf } from './generate.ts'

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

/** Plausible scores of pull requests in order of time, spread evenly over the days; each is of a ticket's branch. */
export function* generateRisks({ risk = 0, ...plan }: SeedPlan): Generator<PrRiskRecord> {
  const random = randomFrom(plan.seed)
  const { below } = random
  const first = Date.parse(addDays(plan.today, -plan.days))
  const last = Date.parse(plan.today)
  for (let index = 0; index < risk; index += 1) {
    const at = first + Math.floor(((index + random()) / risk) * plan.days * DAY_MS)
    const { project, branch, author_email } = ticketOf(plan, index / risk)
    const title = random.pick(TITLES)
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
      security: securityComponent(
        PATHS.filter(() => random() < 0.3).map((path) => ({ path, additions: la, deletions: ld })),
        { critical: 0, high: below(3), medium: below(3), low: below(3) },
      ),
      coupling: couplingScore(
        PATHS.slice(0, below(4)).map((file) => ({ file, degree: 30 + below(70) })),
        lines,
      ),
    }
    const { scores, contributions } = componentsOf(parts)
    yield {
      type: 'pr_risk',
      repo: `seed-${plan.seed}/${project}`,
      pr_number: index + 1,
      pr_title: title,
      files_changed: files,
      created_at: new Date(at).toISOString(),
      project,
      branch,
      author_email,
      impact_score: scores.impact,
      regression_score: scores.regression,
      security_score: scores.security,
      coupling_score: scores.coupling,
      contributions,
      // the last two days' are open
      ...lifecycleOf(at, last, index % 10 === 0),
    }
  }
}

const ACTIONS = [
  ...(['session.synced', 'session.synced', 'session.synced', 'webhook.updated', 'webhook.created'] as const),
  ...(['api_key.created', 'api_key.revoked', 'member.updated', 'user.login'] as const),
] as const

/** Audit entries of `users` in order of time, spread evenly over the days. */
export function* generateAudit(
  { audit = 0, days, seed, today }: Omit<SeedPlan, 'projects'>,
  users = Array.from({ length: MEMBERS }, (_, index) => `user_seed${1 + index}`),
): Generator<AuditRecord> {
  const { below, pick } = randomFrom(seed ^ 0x6175_6469)
  const first = Date.parse(addDays(today, -days))
  for (let nth = 0; nth < audit; nth += 1) {
    yield {
      type: 'audit',
      id: `log_seed${seed}_${nth}`,
      action: pick(ACTIONS),
      user_id: users[below(users.length)] ?? 'system',
      created_at: new Date(first + Math.floor((nth / audit) * days * DAY_MS)).toISOString(),
      details: { ids: [`sess_seed${seed}_${nth}`] },
      ip_address: `203.0.113.${below(256)}`,
    }
  }
}
