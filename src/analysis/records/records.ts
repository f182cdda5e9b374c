// The records of POST /v1/sync. Every optional field may also be null, so that what `export` writes (the session
// detail, nulls included) is a record again.

import type { Static } from '@sinclair/typebox'
import { AuditRecord, ReportRecord } from './audit.ts'
import { BudgetRecord } from './budget.ts'
import { CommitRecord } from './commit.ts'
import { EffectRecord } from './effect.ts'
import { MemberRecord } from './member.ts'
import { NoteRecord } from './note.ts'
import { LimitRecord, PlanRecord } from './plan.ts'
import { PrRiskRecord } from './risk.ts'
import { SessionRecord } from './session.ts'

/** Every kind of record that sync takes, by its `type`. */
export const RECORD_SCHEMAS = {
  session: SessionRecord,
  member: MemberRecord,
  commit: CommitRecord,
  pr_risk: PrRiskRecord,
  audit: AuditRecord,
  budget: BudgetRecord,
  report: ReportRecord,
  note: NoteRecord,
  plan: PlanRecord,
  limit: LimitRecord,
  effect: EffectRecord,
} as const
export type SyncRecord = Static<(typeof RECORD_SCHEMAS)[keyof typeof RECORD_SCHEMAS]>

/** The records of one kind, with the place of each in the batch. */
export const recordsOf = <Kind extends SyncRecord['type']>(records: readonly SyncRecord[], type: Kind) =>
  [...records.entries()].flatMap(([index, record]) => (isOfKind(record, type) ? [{ index, record }] : []))

const isOfKind = <Kind extends SyncRecord['type']>(
  record: SyncRecord,
  type: Kind,
): record is Extract<SyncRecord, { type: Kind }> => record.type === type
