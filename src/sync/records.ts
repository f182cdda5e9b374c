import { type Static, Type } from '@sinclair/typebox'
import { AuditRecord, ReportRecord } from './audit-records.ts'
import { CommitRecord } from './commit-record.ts'
import { count, name, optional, score, strict, Timestamp } from './record-fields.ts'
import { PrRiskRecord } from './risk-record.ts'

// The records of POST /v1/sync: the one declaration of what goes in. Everything optional may also be null,
// so that what `export` writes (the session detail, nulls included) is a record again.

/** US dollars; more than 6 decimals are rounded half up when stored. */
const money = Type.Number({ minimum: 0, maximum: 1e6 })

export { Timestamp }

export const Tokens = Type.Object(
  {
    input: Type.Integer({ minimum: 0, maximum: 1e12, description: 'without what was read from the cache' }),
    output: Type.Integer({ minimum: 0, maximum: 1e12, description: 'reasoning included, as it is billed' }),
    cache_read: count(),
    cache_creation: count(),
  },
  strict,
)
export type Tokens = Static<typeof Tokens>

export const ToolUse = Type.Object({ name: name(200), calls: count(1e9), errors: count(1e9) }, strict)
export type ToolUse = Static<typeof ToolUse>

export const TurnRecord = Type.Object(
  {
    turn_number: Type.Optional(Type.Integer({ minimum: 1, maximum: 1e9 })),
    role: Type.Optional(
      Type.Union([
        Type.Literal('user'),
        Type.Literal('assistant'),
        Type.Literal('system'),
        Type.Literal('tool'),
      ]),
    ),
    model: optional(name(200)),
    started_at: optional(Timestamp()),
    tokens: optional(Type.Partial(Tokens, strict)),
    cost: optional(money),
    tool_calls: optional(
      Type.Array(Type.Object({ name: name(200), ok: optional(Type.Boolean()) }, strict), {
        maxItems: 10_000,
      }),
    ),
    content: optional(Type.String({ maxLength: 1_000_000 })),
  },
  strict,
)
export type TurnRecord = Static<typeof TurnRecord>

export const ObservationRecord = Type.Object(
  {
    id: optional(Type.String({ pattern: '^obs_[A-Za-z0-9_-]{1,64}$' })),
    type: Type.Optional(name(100)),
    title: Type.Optional(Type.String({ maxLength: 500 })),
    content: optional(Type.String({ maxLength: 10_000 })),
    importance: Type.Optional(Type.Integer({ minimum: 1, maximum: 10 })),
    file_path: optional(Type.String({ maxLength: 4096 })),
    turn_number: optional(Type.Integer({ minimum: 1, maximum: 1e9 })),
    created_at: optional(Timestamp()),
  },
  strict,
)
export type ObservationRecord = Static<typeof ObservationRecord>

export const Severity = Type.Union([
  Type.Literal('critical'),
  Type.Literal('high'),
  Type.Literal('medium'),
  Type.Literal('low'),
])
export type Severity = Static<typeof Severity>

export const FindingRecord = Type.Object(
  {
    id: optional(Type.String({ pattern: '^finding_[A-Za-z0-9_-]{1,64}$' })),
    rule_id: Type.Optional(name(200)),
    category: Type.Optional(name(100)),
    severity: Severity,
    title: Type.Optional(name(500)),
    description: optional(Type.String({ maxLength: 2_000 })),
    file: optional(Type.String({ maxLength: 4096 })),
    line: optional(Type.Integer({ minimum: 1, maximum: 1e9 })),
    turn_number: optional(Type.Integer({ minimum: 1, maximum: 1e9 })),
    fingerprint: optional(name(200)),
    status: Type.Optional(Type.Literal('open')),
    created_at: optional(Timestamp()),
  },
  strict,
)
export type FindingRecord = Static<typeof FindingRecord>

export const SecurityRecord = Type.Object(
  { score: optional(score), findings: Type.Optional(Type.Array(FindingRecord, { maxItems: 1_000 })) },
  strict,
)
export type SecurityRecord = Static<typeof SecurityRecord>

export const QualityFactor = Type.Object(
  {
    name: name(100),
    category: name(100),
    count: Type.Number({ minimum: 0, maximum: 1e12, description: 'what was counted or measured' }),
    weight: Type.Number({ minimum: -100, maximum: 100, description: 'points at full strength' }),
    points: Type.Number({ minimum: -100, maximum: 100, description: 'what it adds to the score' }),
  },
  strict,
)
export type QualityFactor = Static<typeof QualityFactor>

/** A factor as it may be sent: only what it is called and what it adds are needed. */
const QualityFactorRecord = Type.Object(
  {
    name: QualityFactor.properties.name,
    category: Type.Optional(QualityFactor.properties.category),
    count: Type.Optional(QualityFactor.properties.count),
    weight: Type.Optional(QualityFactor.properties.weight),
    points: QualityFactor.properties.points,
  },
  strict,
)
export type QualityFactorRecord = Static<typeof QualityFactorRecord>

export const QualityRecord = Type.Object(
  {
    score: optional(score),
    base: Type.Optional(score),
    factors: Type.Optional(Type.Array(QualityFactorRecord, { maxItems: 100 })),
    breakdown: Type.Optional(
      Type.Record(
        Type.String({ pattern: '^[A-Za-z0-9_.-]{1,100}$' }),
        Type.Number({ minimum: -1000, maximum: 1000 }),
        { additionalProperties: false, maxProperties: 100 },
      ),
    ),
    scored_at: optional(Timestamp()),
    previous_score: optional(score),
  },
  strict,
)
export type QualityRecord = Static<typeof QualityRecord>

export const SessionRecord = Type.Object(
  {
    type: Type.Literal('session'),
    id: Type.String({ pattern: '^sess_[A-Za-z0-9_-]{1,64}$' }),
    project_name: name(200),
    created_at: Timestamp(),
    user_id: optional(Type.String({ pattern: '^user_[A-Za-z0-9_-]{1,64}$' })),
    user_email: optional(Type.String({ format: 'email', maxLength: 320 })),
    source: optional(name(100)),
    branch: optional(name(500)),
    model: optional(name(200)),
    models: optional(Type.Array(name(200), { maxItems: 100 })),
    started_at: optional(Timestamp()),
    ended_at: optional(Timestamp()),
    duration_seconds: optional(Type.Number({ minimum: 0, maximum: 1e12 })),
    turns: optional(count(1e9)),
    estimated_cost: optional(money),
    cost_source: optional(Type.Union([Type.Literal('reported'), Type.Literal('estimated')])),
    quality_score: optional(score),
    tokens: optional(Type.Partial(Tokens, strict)),
    tools_used: optional(
      Type.Array(
        Type.Object(
          { name: name(200), calls: Type.Optional(count(1e9)), errors: Type.Optional(count(1e9)) },
          strict,
        ),
        { maxItems: 1_000 },
      ),
    ),
    files_touched: optional(Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), { maxItems: 20_000 })),
    summary: optional(Type.String({ maxLength: 10_000 })),
    turn_records: optional(Type.Array(TurnRecord, { maxItems: 50_000 })),
    observations: optional(Type.Array(ObservationRecord, { maxItems: 5_000 })),
    analysis: optional(
      Type.Object(
        {
          summary: optional(Type.String({ maxLength: 10_000 })),
          issues: optional(Type.Array(Type.String({ maxLength: 2_000 }), { maxItems: 1_000 })),
          classification: optional(name(100)),
        },
        strict,
      ),
    ),
    quality_metadata: optional(QualityRecord),
    security_metadata: optional(SecurityRecord),
  },
  strict,
)
export type SessionRecord = Static<typeof SessionRecord>

export const Role = Type.Union([
  Type.Literal('owner'),
  Type.Literal('admin'),
  Type.Literal('developer'),
  Type.Literal('auditor'),
])
export type Role = Static<typeof Role>

export const MemberRecord = Type.Object(
  {
    type: Type.Literal('member'),
    email: Type.String({ format: 'email', maxLength: 320 }),
    display_name: name(200),
    role: Role,
    joined_at: Timestamp(),
    id: optional(Type.String({ pattern: '^user_[A-Za-z0-9_-]{1,64}$' })),
  },
  strict,
)
export type MemberRecord = Static<typeof MemberRecord>

export const BudgetRecord = Type.Object(
  {
    type: Type.Literal('budget'),
    month: Type.String({
      format: 'month',
      description: 'YYYY-MM; in force until a later month has a record',
    }),
    limit: Type.Number({ minimum: 0.000001, maximum: 1e9 }),
  },
  strict,
)
export type BudgetRecord = Static<typeof BudgetRecord>

/** Every kind of record that sync takes, by its `type`. */
export const RECORD_SCHEMAS = {
  session: SessionRecord,
  member: MemberRecord,
  commit: CommitRecord,
  pr_risk: PrRiskRecord,
  audit: AuditRecord,
  budget: BudgetRecord,
  report: ReportRecord,
} as const
export type SyncRecord =
  | SessionRecord
  | MemberRecord
  | CommitRecord
  | PrRiskRecord
  | AuditRecord
  | BudgetRecord
  | ReportRecord
