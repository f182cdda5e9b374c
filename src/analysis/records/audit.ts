// The records of the audit log: entries and reports.

import { type Static, Type } from '@sinclair/typebox'
import { component, literals, name, optional, Timestamp } from './fields.ts'

export const AuditRecord = component('AuditRecord', {
  type: Type.Literal('audit'),
  action: name(200),
  user_id: name(200),
  created_at: Timestamp('Microseconds are kept; moved on by microseconds where another entry has the same'),
  id: optional(Type.String({ pattern: '^log_[A-Za-z0-9_-]{1,64}$', examples: ['log_4f1c2a'] })),
  details: optional(Type.Object({}, { description: 'At most 16 KiB as JSON' })),
  ip_address: optional(Type.String({ maxLength: 100 })),
})
export type AuditRecord = Static<typeof AuditRecord>

export const ReportType = literals(['audit', 'soc2', 'iso27001', 'custom'])
export type ReportType = Static<typeof ReportType>

export const ReportRecord = component('ReportRecord', {
  type: Type.Literal('report'),
  report_type: ReportType,
  from: Type.String({ format: 'day', description: 'First UTC day, inclusive', examples: ['2026-01-01'] }),
  to: Type.String({ format: 'day', description: 'Last UTC day, inclusive', examples: ['2026-03-31'] }),
  id: optional(Type.String({ pattern: '^report_[A-Za-z0-9_-]{1,64}$', examples: ['report_4f1c2a'] })),
  generated_at: optional(Timestamp('When it was made, as export gives it; now unless given')),
  through: optional(Timestamp('Last entry it may count, as export gives it; the newest unless given')),
})
export type ReportRecord = Static<typeof ReportRecord>
