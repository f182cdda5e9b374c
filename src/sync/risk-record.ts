import { type Static, Type } from '@sinclair/typebox'
import { CommitFile } from './commit-record.ts'
import { name, optional, score, strict, Timestamp } from './record-fields.ts'

/** One thing that a part of a risk score is made of. */
export const RiskContribution = Type.Object(
  {
    name: name(1_100),
    value: Type.Number({ minimum: -1e12, maximum: 1e12, description: 'what was measured' }),
    points: Type.Number({ minimum: -1_000, maximum: 1_000, description: 'what it adds to the part' }),
  },
  strict,
)
export type RiskContribution = Static<typeof RiskContribution>

const contributions = (description: string) => Type.Array(RiskContribution, { maxItems: 100, description })

/** What explains each part of a risk score: the points of each list add up to its part. */
export const RiskContributions = Type.Object(
  {
    impact: contributions('hotspot, spread, entropy, single_owner'),
    regression: contributions('measures of the change, and `base`: a change of nothing'),
    security: contributions('open findings in the files by severity, and kinds of sensitive files'),
    coupling: contributions('files that usually change with these and are missing, by how surely they do'),
  },
  strict,
)
export type RiskContributions = Static<typeof RiskContributions>

export const PrRiskRecord = Type.Object(
  {
    type: Type.Literal('pr_risk'),
    repo: name(200),
    pr_number: Type.Integer({ minimum: 1, maximum: 2_147_483_647 }),
    pr_title: Type.String({ maxLength: 1_000 }),
    files_changed: Type.Integer({ minimum: 0, maximum: 1e9 }),
    created_at: Timestamp(),
    id: optional(Type.String({ pattern: '^risk_[A-Za-z0-9_-]{1,64}$' })),
    impact_score: optional(score),
    regression_score: optional(score),
    security_score: optional(score),
    coupling_score: optional(score),
    contributions: optional(RiskContributions),
    project: optional(name(200)),
    author_email: optional(Type.String({ format: 'email', maxLength: 320 })),
    files: optional(Type.Array(CommitFile, { maxItems: 10_000 })),
    risk_score: Type.Optional(Type.Unknown({ description: 'Not read: it is always computed here' })),
    rating: Type.Optional(Type.Unknown({ description: 'Not read: it is always computed here' })),
  },
  strict,
)
export type PrRiskRecord = Static<typeof PrRiskRecord>
