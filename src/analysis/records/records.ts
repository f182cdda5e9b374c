// Lists the schemas of the records of POST /v1/sync, by their type. Every optional field may also be null, so that what
// `export` writes (the session detail, nulls included) is a record again.

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

/** A record of a batch. `prefix` is before the names of its fields in errors: `records[3].`. */
export interface SentRecord<Kind extends SyncRecord['type']> {
  prefix: string
  record: Extract<SyncRecord, { type: Kind }>
}
/** The records of a batch by kind, each in the order in which they were sent. */
export type SentRecords = { [Kind in SyncRecord['type']]?: SentRecord<Kind>[] }
