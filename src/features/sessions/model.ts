import { type Static, Type } from '@sinclair/typebox'
import {
  closed,
  component,
  Decimal,
  Integer,
  literals,
  nullable,
  Text,
  Timestamp,
} from '../../analysis/records/fields.ts'
import { FindingStatus, Severity } from '../../analysis/records/finding.ts'
import {
  CALL_NOTES,
  KnownTokens,
  Landing,
  Origin,
  PullRequest,
  QualityFactor,
  SESSION_NOTES,
  StatedCost,
  Tokens,
  ToolUse,
  UnpricedTokens,
} from '../../analysis/records/session.ts'
import { choiceOf, oneOfOr, Paged, PageOf } from '../../http/query.ts'
import { UsageFilters } from '../usage/filters.ts'

export const SessionListQuery = Type.Object({
  ...Paged,
  ...UsageFilters.properties,
  sort: oneOfOr(
    ['created_at', 'estimated_cost', 'turns', 'quality_score'],
    'created_at',
    'What to sort by; ties are broken by id, in the same direction',
  ),
  order: oneOfOr(['asc', 'desc'], 'desc', 'Direction of the sort'),
  include: choiceOf(
    ['details'],
    '`details`: each also with `member`, `agent`, `model`, `branch`, `ended_at` and `findings`',
    'details',
  ),
})
export type SessionListQuery = Static<typeof SessionListQuery>

const listFields = {
  id: Type.String({ examples: ['sess_4f1c2a'] }),
  project_name: nullable(Type.String({ examples: ['checkout'] })),
  turns: Type.Integer({ examples: [42] }),
  estimated_cost: Decimal('US dollars, at most 6 decimals; 0 where nothing is known', 1.284213),
  quality_score: Decimal(
    'How smoothly it went (errors, rework, interruptions), no measure of its code; 0 to 100, high is good',
    87.5,
  ),
  created_at: Timestamp('When the session began; UTC, milliseconds'),
}

const named = (example: string) => Type.Optional(nullable(Text('With `include=details`', example)))

export const SessionListItem = component('Session', {
  ...listFields,
  member: Type.Optional(
    nullable(
      closed(
        { id: nullable(Type.String()), email: nullable(Type.String()) },
        { description: 'With `include=details`: whose it is; null where that is not known, or not shown' },
      ),
    ),
  ),
  agent: named('claude-code'),
  model: named('claude-sonnet-4-5'),
  branch: named('main'),
  ended_at: Type.Optional(nullable(Timestamp('With `include=details`; UTC, milliseconds'))),
  findings: Type.Optional(Integer('With `include=details`: number of its open findings', 1)),
})
export type SessionListItem = Static<typeof SessionListItem>
export const SessionPage = PageOf(SessionListItem)
export type SessionPage = Static<typeof SessionPage>

/** A name that sessions have: of a project, a model or an agent. */
const SessionName = component('SessionName', {
  name: Type.String({ examples: ['checkout'] }),
  sessions: Integer('A session counts under each of its models', 128),
  last_session_at: Timestamp('When the newest of them began; UTC, milliseconds'),
})
export const SessionNamePage = PageOf(SessionName)

export const TurnDetail = component('Turn', {
  turn_number: Type.Integer({ minimum: 1 }),
  role: Type.String({ examples: ['assistant'] }),
  model: nullable(Type.String()),
  tier: Type.Optional(Text('Only where the price is not the list price.')),
  ...Type.Partial(closed(CALL_NOTES)).properties,
  started_at: nullable(Timestamp()),
  tokens: nullable(Tokens),
  cost: nullable(Type.Number()),
  tool_calls: Type.Array(closed({ name: Type.String(), ok: nullable(Type.Boolean()) })),
  content: Type.Optional(Text('Only where the operator stores content.')),
})
export type TurnDetail = Static<typeof TurnDetail>

export const Observation = component('Observation', {
  id: Type.String({ examples: ['obs_0k3w'] }),
  type: Type.String(),
  title: Type.String(),
  content: nullable(Type.String()),
  importance: Type.Integer({ minimum: 1, maximum: 10 }),
  file_path: nullable(Type.String()),
  turn_number: nullable(Type.Integer()),
  created_at: Timestamp(),
})
export type Observation = Static<typeof Observation>

export const Finding = component('Finding', {
  id: Type.String({ examples: ['finding_9x2b'] }),
  rule_id: Type.String(),
  category: Type.String(),
  severity: Severity,
  title: Type.String(),
  description: nullable(Type.String()),
  file: nullable(Type.String()),
  line: nullable(Type.Integer()),
  turn_number: nullable(Type.Integer()),
  fingerprint: Type.String(),
  status: FindingStatus,
  assignee: nullable(Text('Id of the member who is to mend it', 'user_7h2k9d')),
  note: Type.Optional(Text('What was decided and why, where somebody said so')),
  created_at: Timestamp(),
})
export type Finding = Static<typeof Finding>
/** A stored one has no assignee where there is none, so that hashes are those of before there was one. */
export type StoredFinding = Omit<Finding, 'assignee'> & { assignee?: string }

export const QualityMetadata = component('QualityMetadata', {
  score: Type.Number(),
  base: Decimal('base + the sum of points, within 0 and 100, is score'),
  factors: Type.Array(QualityFactor),
  breakdown: Type.Record(Type.String(), Type.Number(), { description: 'points by category' }),
  scored_at: Timestamp(),
  previous_score: nullable(Type.Number()),
})
export type QualityMetadata = Static<typeof QualityMetadata>

export const SecurityMetadata = component('SecurityMetadata', {
  score: Type.Number(),
  findings: Type.Array(Finding),
})
export type SecurityMetadata = Static<typeof SecurityMetadata>

/** The stored JSON text with an assignee in each of its findings, null where members are hidden. No text in JSON has a quote without an escape. */
export const withAssignees = (text: string, hidesMembers: boolean): string =>
  text.replaceAll(
    /("fingerprint": ?"(?:[^"\\]|\\.)*", ?"status": ?"[a-z]+")(?:, ?"assignee": ?("(?:[^"\\]|\\.)*"))?/g,
    (_, finding: string, assignee = 'null') => `${finding},"assignee":${hidesMembers ? 'null' : assignee}`,
  )

/** The fields of the detail that are neither in the list item nor the user: stored as JSON in session_details. */
export const SessionDetailBody = closed({
  source: nullable(Type.String({ examples: ['claude-code'] })),
  branch: nullable(Type.String()),
  pull_requests: Type.Optional(Type.Array(PullRequest, { description: 'Left out where there is none' })),
  model: nullable(Type.String()),
  models: Type.Array(Type.String()),
  started_at: nullable(Timestamp()),
  ended_at: nullable(Timestamp()),
  duration_seconds: nullable(Type.Number()),
  tokens: nullable(KnownTokens),
  origin: Origin,
  cost_source: literals(['reported', 'estimated']),
  stated_cost: Type.Optional(StatedCost),
  ...Type.Partial(closed(SESSION_NOTES)).properties,
  tools_used: Type.Array(ToolUse),
  files_touched: nullable(Type.Array(Type.String())),
  summary: nullable(Type.String()),
  turn_records: Type.Array(TurnDetail),
  observations: Type.Array(Observation),
  analysis: closed({
    summary: nullable(Type.String()),
    issues: Type.Array(Type.String()),
    classification: nullable(Type.String()),
  }),
  quality_metadata: QualityMetadata,
  security_metadata: SecurityMetadata,
})
export type SessionDetailBody = Omit<Static<typeof SessionDetailBody>, 'security_metadata'> & {
  security_metadata: { score: number; findings: StoredFinding[] }
}

export const SessionDetail = component('SessionDetail', {
  ...listFields,
  user_id: nullable(Type.String({ examples: ['user_7m2k'] })),
  unpriced_tokens: UnpricedTokens,
  ...Landing.properties,
  ...SessionDetailBody.properties,
  stated_cost: nullable(StatedCost),
  version: nullable(SESSION_NOTES.version),
  effort: nullable(SESSION_NOTES.effort),
  vendor: nullable(SESSION_NOTES.vendor),
  paid_by: nullable(SESSION_NOTES.paid_by),
})
export type SessionDetail = Static<typeof SessionDetail>
