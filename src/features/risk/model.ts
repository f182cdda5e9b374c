import { type Static, Type } from '@sinclair/typebox'
import { component, nullable, Timestamp } from '../../analysis/records/fields.ts'
import { RiskContributions, STATES } from '../../analysis/records/risk.ts'
import { EXAMPLE_IDS, EXAMPLE_PULL_REQUEST } from '../../http/openapi/examples.ts'
import { oneOf, Page, PageOf, PerPage, textFilter } from '../../http/query.ts'

const RATINGS = ['low', 'medium', 'high', 'critical'] as const
export type Rating = (typeof RATINGS)[number]

export const RiskListQuery = Type.Object({
  page: Page,
  per_page: PerPage,
  repo: textFilter('Only pull requests of this repository', 'acme/checkout'),
  rating: Type.Optional(oneOf(RATINGS, { description: 'Only scores of this band' })),
  state: Type.Optional(oneOf(STATES, { description: 'Only pull requests in this state' })),
  include: Type.Optional(
    oneOf(['cost'], { description: 'Adds `cost`, `sessions` and `state` to each item', examples: ['cost'] }),
  ),
})
export type RiskListQuery = Static<typeof RiskListQuery>

const part = (description: string, example: number) =>
  Type.Number({ description: `${description}; 0 to 100, high is bad`, examples: [example] })

const riskFields = {
  id: Type.String({ examples: [EXAMPLE_IDS.pr_id] }),
  repo: Type.String({ examples: ['acme/checkout'] }),
  pr_number: Type.Integer({ examples: [EXAMPLE_PULL_REQUEST.pr_number] }),
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
}

export const RiskScore = component('RiskScore', {
  ...riskFields,
  cost: Type.Optional(
    Type.Number({
      description: 'Its parts of the cost of its sessions, US dollars; with `include`',
      examples: [4.5],
    }),
  ),
  sessions: Type.Optional(
    Type.Integer({ description: 'Sessions that worked on it; with `include`', examples: [3] }),
  ),
  state: Type.Optional(oneOf(STATES, { description: 'With `include`', examples: ['merged'] })),
})
export type RiskScore = Static<typeof RiskScore>
export const RiskPage = PageOf(RiskScore)
export type RiskPage = Static<typeof RiskPage>

const RiskSession = component('RiskSession', {
  id: Type.String({ examples: ['sess_4f1c2a'] }),
  project_name: nullable(Type.String({ examples: ['checkout'] })),
  turns: Type.Integer({ examples: [42] }),
  estimated_cost: Type.Number({ description: 'US dollars', examples: [1.284213] }),
  part: Type.Number({
    description:
      'What of it the pull request has: all, or an equal part where several have the session; US dollars',
    examples: [0.642106],
  }),
  quality_score: Type.Number({ description: '0 to 100, high is good', examples: [87.5] }),
  created_at: Timestamp('When the session began; UTC, milliseconds'),
})

export const RiskDetail = component('RiskDetail', {
  ...riskFields,
  state: oneOf(STATES, { description: '`open` where no record says it', examples: ['merged'] }),
  merged_at: nullable(Timestamp('UTC, milliseconds')),
  closed_at: nullable(Timestamp('UTC, milliseconds')),
  url: nullable(Type.String({ examples: ['https://github.com/acme/checkout/pull/302'] })),
  effective_lines: Type.Integer({
    description: 'Effective lines that its commits added, as far as these were sent with their lines',
    examples: [200],
  }),
  ai_lines: Type.Integer({ description: 'Those of the lines that agents wrote', examples: [80] }),
  ai_share: nullable(Type.Number({ description: 'ai_lines ÷ effective_lines', examples: [0.4] })),
  fix_rate: component('FixRate', {
    rating: oneOf(RATINGS),
    pull_requests: Type.Integer({
      description: 'The newest merged ones of this rating, 100 at most',
      examples: [48],
    }),
    followed_by_fix: Type.Integer({
      description: 'Those after which a fix changed one of their files within 30 days: docs/risk.md',
      examples: [6],
    }),
    share: nullable(
      Type.Number({ description: 'null below 20 pull requests; rounded to 6 decimals', examples: [0.125] }),
    ),
  }),
  sessions: component('RiskSessions', {
    count: Type.Integer({ description: 'Sessions that worked on the pull request', examples: [3] }),
    cost: Type.Number({ description: 'The sum of their parts; US dollars', examples: [4.5] }),
    average_quality: Type.Number({ description: '0 without sessions', examples: [81.25] }),
    findings: Type.Integer({ description: 'Security findings of these sessions', examples: [1] }),
    data: Type.Array(RiskSession, { description: 'The newest 50 of them', maxItems: 50 }),
  }),
})
export type RiskDetail = Static<typeof RiskDetail>
