// The record of a pull request (`pr_risk`), with its state and the parts of its risk.

import { type Static, Type } from '@sinclair/typebox'
import { SCORE_DECIMALS, scaled } from '../../base/decimals.ts'
import type { FieldProblem } from '../../base/errors.ts'
import { CommitFile, Sha } from './commit.ts'
import { closed, component, literals, name, optional, score, Timestamp } from './fields.ts'

const RiskContribution = closed({
  name: name(1_100),
  value: Type.Number({ minimum: -1e12, maximum: 1e12, description: 'what was measured' }),
  points: Type.Number({ minimum: -1_000, maximum: 1_000, description: 'what it adds to the part' }),
})

const contributions = (description: string) => Type.Array(RiskContribution, { maxItems: 100, description })

/** Explains each part of a risk score: the points of each list add up to its part. */
export const RiskContributions = closed({
  impact: contributions('hotspot, spread, entropy, single_owner'),
  regression: contributions('measures of the change, and `base`: a change of nothing'),
  security: contributions('open findings in the files by severity, and kinds of sensitive files'),
  coupling: contributions('files that usually change with these and are missing, by how surely they do'),
})
export type RiskContributions = Static<typeof RiskContributions>

export const STATES = ['open', 'merged', 'closed'] as const
export type State = (typeof STATES)[number]

/**
 * A pull request proposes commits for a branch of a repository. Its record has the changed files, from which the risk
 * score is computed with the history of these files, or the parts of a score that was computed elsewhere. Its branch and
 * commits also link the sessions in which it was written: their cost is the cost of the pull request.
 */
export const PrRiskRecord = component('PrRiskRecord', {
  type: Type.Literal('pr_risk'),
  repo: name(200),
  pr_number: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
  pr_title: Type.String({ maxLength: 1_000 }),
  files_changed: Type.Integer({ minimum: 0, maximum: 1e9 }),
  created_at: Timestamp(),
  id: optional(Type.String({ pattern: '^risk_[A-Za-z0-9_-]{1,64}$', examples: ['risk_4f1c2a'] })),
  impact_score: optional(score),
  regression_score: optional(score),
  security_score: optional(score),
  coupling_score: optional(score),
  contributions: optional(RiskContributions),
  project: optional(name(200)),
  author_email: optional(Type.String({ format: 'email', maxLength: 320 })),
  files: optional(Type.Array(CommitFile, { maxItems: 10_000 })),
  branch: optional(name(500)),
  commits: optional(Type.Array(Sha, { maxItems: 1_000 })),
  state: optional(literals(STATES)),
  merged_at: optional(Timestamp()),
  closed_at: optional(Timestamp()),
  merge_commit: optional(Sha),
  url: optional(
    Type.String({
      pattern: '^https?://[^\\s]+$',
      maxLength: 2_048,
      examples: ['https://github.com/acme/checkout/pull/128'],
    }),
  ),
  default_branch: optional(name(500)),
  risk_score: Type.Optional(Type.Unknown({ description: 'Not read: it is always computed here' })),
  rating: Type.Optional(Type.Unknown({ description: 'Not read: it is always computed here' })),
})
export type PrRiskRecord = Static<typeof PrRiskRecord>

/** The parts of a risk score, in the order in which they are shown. */
export const COMPONENTS = ['impact', 'regression', 'security', 'coupling'] as const
export type Component = (typeof COMPONENTS)[number]

/** The field of a part. */
export const scoreField = (part: Component) => `${part}_score` as const

/** The first problem of a record with valid fields. It needs all four scores, or files, project and author. */
export function riskProblem(record: PrRiskRecord, at: string): FieldProblem | undefined {
  const { state, merged_at, closed_at } = record
  const excluded = { message: `must not be given with the state ${state}` }
  if (merged_at != null && (state ?? 'merged') !== 'merged') return { field: `${at}.merged_at`, ...excluded }
  if (closed_at != null && state === 'open') return { field: `${at}.closed_at`, ...excluded }
  const components = COMPONENTS.filter((part) => record[scoreField(part)] != null)
  if (record.files != null) {
    const [part] = components
    if (part !== undefined)
      return { field: `${at}.${scoreField(part)}`, message: 'must not be given with files' }
    if (record.contributions != null)
      return { field: `${at}.contributions`, message: 'must not be given with files' }
    for (const name of ['author_email', 'project'] as const) {
      if (record[name] == null) return { field: `${at}.${name}`, message: 'is required with files' }
    }
    if (record.files_changed < new Set(record.files.map((file) => file.path)).size)
      return { field: `${at}.files_changed`, message: 'must not be less than the files given' }
    return undefined
  }
  if (components.length === 0)
    return { field: `${at}.files`, message: 'is required, or all four of the scores that it gives' }
  const missing = COMPONENTS.find((part) => record[scoreField(part)] == null)
  if (missing !== undefined)
    return { field: `${at}.${scoreField(missing)}`, message: 'is required with the other scores' }
  const wrong = COMPONENTS.find((part) => record.contributions && !addsUp(record, part))
  if (wrong !== undefined)
    return {
      field: `${at}.contributions.${wrong}`,
      message: `must have points that add up to ${scoreField(wrong)}`,
    }
  return undefined
}

const hundredths = (value: number): number => Math.round(value * 100)

const addsUp = (record: PrRiskRecord, part: Component): boolean =>
  (record.contributions?.[part] ?? []).reduce((sum, { points }) => sum + hundredths(points), 0) ===
  Number(scaled(record[scoreField(part)] ?? 0, SCORE_DECIMALS))
