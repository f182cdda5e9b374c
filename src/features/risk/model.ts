import { type Static, Type } from '@sinclair/typebox'
import { component, Decimal, Integer, nullable, Timestamp } from '../../analysis/records/fields.ts'
import { RiskContributions, STATES } from '../../analysis/records/risk.ts'
import { EXAMPLE_IDS, EXAMPLE_PULL_REQUEST } from '../../http/openapi/examples.ts'
import { choiceOf, oneOf, Paged, PageOf, textFilter } from '../../http/query.ts'

const RATINGS = ['low', 'medium', 'high', 'critical'] as const
export type Rating = (typeof RATINGS)[number]

export const RiskListQuery = Type.Object({
  ...Paged,
  repo: textFilter('Only pull requests of this repository', 'acme/checkout'),
  rating: choiceOf(RATINGS, 'Only scores of this band'),
  state: choiceOf(STATES, 'Only pull requests in this state'),
  include: choiceOf(['cost'], 'Adds `cost`, `sessions` and `state` to each item', 'cost'),
})
export type RiskListQuery = Static<typeof RiskListQuery>

const part = (description: string, example: number) =>
  Decimal(`${description}; 0 to 100, high is bad`, example)

const riskFields = {
  id: Type.String({ examples: [EXAMPLE_IDS.pr_id] }),
  repo: Type.String({ examples: ['acme/checkout'] }),
  pr_number: Type.Integer({ examples: [EXAMPLE_PULL_REQUEST.pr_number] }),
  pr_title: Type.String({ examples: ['Fix rounding of refunds'] }),
  risk_score: Integer('0.30 impact + 0.25 regression + 0.25 security + 0.20 coupling, rounded', 65),
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
}

export const RiskScore = component('RiskScore', {
  ...riskFields,
  cost: Type.Optional(Decimal('Its parts of the cost of its sessions, US dollars; with `include`', 4.5)),
  sessions: Type.Optional(Integer('Sessions that worked on it; with `include`', 3)),
  state: choiceOf(STATES, 'With `include`', 'merged'),
})
export type RiskScore = Static<typeof RiskScore>
export const RiskPage = PageOf(RiskScore)
export type RiskPage = Static<typeof RiskPage>

const RiskSession = component('RiskSession', {
  id: Type.String({ examples: ['sess_4f1c2a'] }),
  project_name: nullable(Type.String({ examples: ['checkout'] })),
  turns: Type.Integer({ examples: [42] }),
  estimated_cost: Decimal('US dollars', 1.284213),
  part: Decimal(
    'What of it the pull request has: all, or an equal part where several have the session; US dollars',
    0.642106,
  ),
  quality_score: Decimal('0 to 100, high is good', 87.5),
  created_at: Timestamp('When the session began; UTC, milliseconds'),
})

export const RiskDetail = component('RiskDetail', {
  ...riskFields,
  state: oneOf(STATES, { description: '`open` where no record says it', examples: ['merged'] }),
  merged_at: nullable(Timestamp('UTC, milliseconds')),
  closed_at: nullable(Timestamp('UTC, milliseconds')),
  url: nullable(Type.String({ examples: ['https://github.com/acme/checkout/pull/302'] })),
  effective_lines: Integer(
    'Effective lines that its commits added, as far as these were sent with their lines',
    200,
  ),
  ai_lines: Integer('Those of the lines that agents wrote', 80),
  ai_share: nullable(Decimal('ai_lines ÷ effective_lines', 0.4)),
  fix_rate: component('FixRate', {
    rating: oneOf(RATINGS),
    pull_requests: Integer('The newest merged ones of this rating, 100 at most', 48),
    followed_by_fix: Integer(
      'Those after which a fix changed one of their files within 30 days: docs/risk.md',
      6,
    ),
    share: nullable(Decimal('null below 20 pull requests; rounded to 6 decimals', 0.125)),
  }),
  sessions: component('RiskSessions', {
    count: Integer('Sessions that worked on the pull request', 3),
    cost: Decimal('The sum of their parts; US dollars', 4.5),
    average_quality: Decimal('0 without sessions', 81.25),
    findings: Integer('Security findings of these sessions', 1),
    data: Type.Array(RiskSession, { description: 'The newest 50 of them', maxItems: 50 }),
  }),
})
export type RiskDetail = Static<typeof RiskDetail>
