// The only declaration of the events: meaning, data, example. The schemas are published and allow further
// fields, which receivers have to ignore.

import { type Static, type TObject, Type } from '@sinclair/typebox'
import { ReportType } from '../../analysis/records/audit.ts'
import { literals, nullable } from '../../analysis/records/fields.ts'
import { Role } from '../../analysis/records/member.ts'

const Score = (description: string) => Type.Number({ minimum: 0, maximum: 100, description })
const Dollars = (description: string) => Type.Number({ minimum: 0, description })
const SessionId = Type.String({
  pattern: '^sess_',
  description: 'The session, as in `GET /v1/sessions/{id}`',
})

const SessionCompleted = Type.Object({
  session_id: SessionId,
  project_name: nullable(Type.String()),
  quality_score: Score('0 to 100, at most 2 decimals'),
})

const QualityScoreChanged = Type.Object({
  session_id: SessionId,
  old_score: Score('The score that was stored'),
  new_score: Score('The score that is stored now'),
})

const SecurityAlert = Type.Object({
  alert_id: Type.String({ pattern: '^finding_', description: "The finding's id in its session" }),
  severity: literals(['critical', 'high']),
  title: Type.String(),
})

const CostBudgetExceeded = Type.Object({
  budget_id: Type.String({ pattern: '^budget_', description: 'The budget record in force' }),
  current_cost: Dollars("The month's cost in US dollars, at most 6 decimals"),
  limit: Dollars('The monthly limit in US dollars, at most 6 decimals'),
})

const TeamMemberJoined = Type.Object({
  user_id: Type.String({ pattern: '^user_' }),
  email: Type.String({ format: 'email' }),
  role: Role,
})

const ComplianceReportReady = Type.Object({
  report_id: Type.String({ pattern: '^report_' }),
  report_type: ReportType,
  date_range: Type.Object(
    { from: Type.String({ format: 'date' }), to: Type.String({ format: 'date' }) },
    { description: 'UTC days, both inclusive' },
  ),
})

const STATES = ['ok', 'firing', 'no_data'] as const
const Key = (description: string) => nullable(Type.String({ description }))

const AlertData = Type.Object({
  alert_id: Type.String({ pattern: '^alert_' }),
  name: Type.String(),
  state: literals(STATES),
  metric: Type.String(),
  value: nullable(Type.Number({ description: 'Null: there is no data' })),
  threshold: Type.Number({ description: 'What the value is compared with' }),
  window: literals(['day', 'week', 'month']),
  key: Key('The project, member or team that it is about; null without `each`, and for what has none'),
  top: Type.Array(Type.Object({ key: Key('A project, member or model'), value: Type.Number() }), {
    description: 'The three largest contributors',
  }),
  test: Type.Optional(Type.Literal(true)),
})

const CostByKey = Type.Array(Type.Object({ key: Key('null: none'), cost: Dollars('In US dollars') }))

const DigestReady = Type.Object({
  digest_id: Type.String({ pattern: '^digest_' }),
  from: Type.String({ format: 'date' }),
  to: Type.String({ format: 'date', description: 'Days of the organization’s time zone, both inclusive' }),
  cost: Dollars('Of these days'),
  previous_cost: Dollars('Of the seven days before'),
  by_model: CostByKey,
  by_project: CostByKey,
  budget: nullable(
    Type.Object({ limit: Dollars('Of the month'), projected_cost: Dollars("At the month's end") }),
  ),
  pull_requests: Type.Object({
    merged: Type.Integer(),
    cost: Dollars('Of the sessions that belong to them'),
  }),
  average_quality: nullable(Score('Null: no sessions')),
  new_findings: Type.Integer({ description: 'Findings of these days that were in no session before' }),
  effects: Type.Array(
    Type.Object({ id: Type.String(), name: Type.String(), verdict: Type.String(), effect: Type.Number() }),
    { description: 'Changes whose verdict has become `seen` or `moved` in these days' },
  ),
  test: Type.Optional(Type.Literal(true)),
})

const ALERT_EXAMPLE = {
  ...{
    alert_id: 'alert_6p2d9x4m',
    name: 'Cost of a day',
    metric: 'cost',
    threshold: 100,
    window: 'day' as const,
  },
  ...{ key: null, top: [{ key: 'checkout', value: 81.25 }] },
}

const WebhookTest = Type.Object({
  webhook_id: Type.String({ pattern: '^hook_', description: 'The endpoint that was tested' }),
  test: Type.Literal(true),
  message: Type.String(),
})

interface Described<Data extends TObject> {
  /** Says in a sentence when it is sent. */
  meaning: string
  data: Data
  example: Static<Data>
}

const describe = <Data extends TObject>(described: Described<Data>) => described

/** The events that an endpoint may subscribe to, by name. */
export const EVENTS = {
  'session.completed': describe({
    meaning: 'A session was synced for the first time.',
    data: SessionCompleted,
    example: { session_id: 'sess_0k3w9d2m', project_name: 'checkout', quality_score: 87.5 },
  }),
  'quality.score_changed': describe({
    meaning: 'The stored quality score of a session changed its value.',
    data: QualityScoreChanged,
    example: { session_id: 'sess_0k3w9d2m', old_score: 87.5, new_score: 72.25 },
  }),
  'security.alert': describe({
    meaning: 'A finding of high or critical severity is new in a session.',
    data: SecurityAlert,
    example: {
      alert_id: 'finding_2h8x41qz7c',
      severity: 'critical',
      title: 'AWS secret access key in a tool result',
    },
  }),
  'cost.budget_exceeded': describe({
    meaning: 'The cost of a month went above its limit; once per month and limit.',
    data: CostBudgetExceeded,
    example: { budget_id: 'budget_5r1v0pj3ke', current_cost: 512.480213, limit: 500 },
  }),
  'team.member_joined': describe({
    meaning: 'A member was added.',
    data: TeamMemberJoined,
    example: { user_id: 'user_7t4nq2bw', email: 'grace@example.com', role: 'developer' },
  }),
  'compliance.report_ready': describe({
    meaning: 'A compliance report was made, or made anew.',
    data: ComplianceReportReady,
    example: {
      report_id: 'report_9c6y3fma',
      report_type: 'soc2',
      date_range: { from: '2026-07-01', to: '2026-09-30' },
    },
  }),
  'alert.fired': describe({
    meaning:
      'A figure went beyond the threshold of an alert, or has no data; again while that lasts, if the alert says so.',
    data: AlertData,
    example: { ...ALERT_EXAMPLE, state: 'firing', value: 128.4 },
  }),
  'alert.resolved': describe({
    meaning: 'A figure is within the threshold of an alert again.',
    data: AlertData,
    example: { ...ALERT_EXAMPLE, state: 'ok', value: 12.5 },
  }),
  'digest.ready': describe({
    meaning: 'The digest of a week was made.',
    data: DigestReady,
    example: {
      ...{
        digest_id: 'digest_1w8k3h5c',
        from: '2026-11-09',
        to: '2026-11-15',
        cost: 412.5,
        previous_cost: 380.1,
      },
      by_model: [{ key: 'claude-sonnet-5-5', cost: 412.5 }],
      by_project: [{ key: 'checkout', cost: 412.5 }],
      budget: { limit: 2500, projected_cost: 1768.2 },
      pull_requests: { merged: 17, cost: 350.25 },
      ...{ average_quality: 84.2, new_findings: 3 },
      effects: [{ id: 'eff_4c7f0d2k', name: 'claude-code 2.1.330', verdict: 'seen', effect: 0.3 }],
    },
  }),
}

/** Sent only by the test of an endpoint; endpoints cannot subscribe to it. */
export const TEST_EVENT = {
  name: 'webhook.test',
  ...describe({
    meaning: 'The endpoint was tested.',
    data: WebhookTest,
    example: {
      webhook_id: 'hook_3m8z5ud1',
      test: true,
      message: 'This is a test event. Your endpoint receives webhooks.',
    },
  }),
} as const

export type EventName = keyof typeof EVENTS
/** Every name an endpoint may subscribe to, in the order of the catalogue. */
export const EVENT_NAMES = Object.keys(EVENTS).filter(isEventName)

/** Whether an endpoint may subscribe to this name; false for `*`. */
export function isEventName(name: string): name is EventName {
  return Object.hasOwn(EVENTS, name)
}

export type SentName = EventName | typeof TEST_EVENT.name
export type EventData = { [Name in EventName]: Static<(typeof EVENTS)[Name]['data']> } & {
  'webhook.test': Static<typeof WebhookTest>
}

/** The body of every event. Some receivers read the name from `event`, others from `type`. */
export const Envelope = Type.Object({
  id: Type.String({ pattern: '^evt_', description: 'The same at every attempt and in every redelivery' }),
  event: Type.String({ description: 'Name of the event' }),
  test: Type.Optional(
    Type.Literal(true, { description: 'There where it is an example, which the test of an endpoint sent' }),
  ),
  type: Type.String({ description: 'The same as `event`' }),
  timestamp: Type.String({
    pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$',
    description: 'When it happened: UTC, milliseconds',
    examples: ['2026-01-31T12:34:56.789Z'],
  }),
  api_version: Type.Literal('v1'),
  data: Type.Object({}, { description: 'Depends on the event' }),
})
export type Envelope = Static<typeof Envelope>

/**
 * The text that is stored, signed and sent, the same bytes at every attempt. The limits of records keep it
 * below 4 KiB, of the 256 KiB that are allowed: the longest field is a title of 500 characters of at most 6
 * bytes each; a digest has 100 names of 200 characters, 120 KiB. `test`: an example that the test of an endpoint sends.
 */
export function eventBody<Name extends SentName>(
  id: string,
  name: Name,
  at: Date,
  data: EventData[Name],
  test = false,
): string {
  const body = {
    id,
    event: name,
    ...(test && { test: true as const }),
    type: name,
    timestamp: at.toISOString(),
    api_version: 'v1',
    data,
  } satisfies Envelope
  return JSON.stringify(body)
}

/** Whether the body is such an example: `eventBody` writes that behind the id and the name. */
export const isExample = (body: string): boolean => /^\{"id":"[^"]*","event":"[^"]*","test":true,/.test(body)
