import { type Static, Type } from '@sinclair/typebox'
import { oneOf, Page, PageOf, PerPage } from '../http/query.ts'
import { Timestamp } from '../records/fields.ts'
import { RiskContributions } from '../records/risk.ts'

const RATINGS = ['low', 'medium', 'high', 'critical'] as const
export type Rating = (typeof RATINGS)[number]

export const RiskListQuery = Type.Object({
  page: Page,
  per_page: PerPage,
  repo: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Only pull requests of this repository',
      examples: ['acme/checkout'],
    }),
  ),
  rating: Type.Optional(oneOf(RATINGS, { description: 'Only scores of this band' })),
})
export type RiskListQuery = Static<typeof RiskListQuery>

const part = (description: string, example: number) =>
  Type.Number({ description: `${description}; 0 to 100, high is bad`, examples: [example] })

export const RiskScore = Type.Object(
  {
    id: Type.String({ examples: ['risk_0k3w'] }),
    repo: Type.String({ examples: ['acme/checkout'] }),
    pr_number: Type.Integer({ examples: [128] }),
    pr_title: Type.String({ examples: ['Fix rounding of refunds'] }),
    risk_score: Type.Integer({
      description: '0.30 impact + 0.25 regression + 0.25 security + 0.20 coupling, rounded',
      examples: [65],
    }),
    impact_score: part('How much it can do: hotspots, spread, files that few know', 70),
    regression_score: part('Chance that it brings a defect in, in percent', 55),
    security_score: part('Open findings in its files, and sensitive ones among them', 60),
    coupling_score: part('Files that usually change with these and are missing', 75),
    files_changed: Type.Integer({ examples: [12] }),
    created_at: Timestamp('When the pull request was opened; UTC, milliseconds'),
    rating: oneOf(RATINGS, {
      description: 'low to 30, medium to 60, high to 80, else critical',
      examples: ['high'],
    }),
    contributions: RiskContributions,
  },
  { additionalProperties: false, title: 'RiskScore' },
)
export type RiskScore = Static<typeof RiskScore>
export const RiskPage = PageOf(RiskScore)
