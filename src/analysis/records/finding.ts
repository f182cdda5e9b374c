// The record of a finding, with its severities, states and limits.

import { type Static, Type } from '@sinclair/typebox'
import { closed, literals, name, optional, score, Timestamp } from './fields.ts'

export const Severity = literals(['critical', 'high', 'medium', 'low'])
export type Severity = Static<typeof Severity>

/** Sorts the most severe first. */
export const SEVERITY_RANK: Readonly<Record<Severity, number>> = { critical: 0, high: 1, medium: 2, low: 3 }

/** Points that a finding takes from a security score, and adds to a risk score. */
export const SEVERITY_POINTS: Readonly<Record<Severity, number>> = {
  critical: 25,
  high: 15,
  medium: 8,
  low: 3,
}

/** Only an open finding counts in lists, the heatmap and `has_findings`; a dismissed one is a false alarm. */
export const FINDING_STATES = ['open', 'fixed', 'accepted', 'dismissed'] as const
export const FindingStatus = literals(FINDING_STATES)
export const FindingNote = Type.String({ maxLength: 2_000, examples: ['a key of the test fixtures'] })

/**
 * A finding is a security problem in a session: a secret, a dangerous command, an unguarded mode or a sensitive file. It
 * names rule and place, never the text that was found. The same finding of two sessions has the same fingerprint. What an
 * admin decided about it outlasts a new transmission of its session.
 */
export const FindingRecord = closed({
  id: optional(Type.String({ pattern: '^finding_[A-Za-z0-9_-]{1,64}$', examples: ['finding_4f1c2a'] })),
  rule_id: Type.Optional(name(200)),
  category: Type.Optional(name(100)),
  severity: Severity,
  title: Type.Optional(name(500)),
  description: optional(Type.String({ maxLength: 2_000 })),
  file: optional(Type.String({ maxLength: 4096 })),
  line: optional(Type.Integer({ minimum: 1, maximum: 1e9 })),
  turn_number: optional(Type.Integer({ minimum: 1, maximum: 1e9 })),
  fingerprint: optional(name(200)),
  status: Type.Optional(FindingStatus),
  note: Type.Optional(FindingNote),
  assignee: optional(name(200)),
  created_at: optional(Timestamp()),
})
export type FindingRecord = Static<typeof FindingRecord>

export const MAX_FINDINGS = 1_000

export const SecurityRecord = closed({
  score: optional(score),
  findings: Type.Optional(Type.Array(FindingRecord, { maxItems: MAX_FINDINGS })),
})
export type SecurityRecord = Static<typeof SecurityRecord>

/** A severity that causes a `security.alert` event. */
type AlertSeverity = Extract<Severity, 'critical' | 'high'>

/** True for a severity that causes a `security.alert` event. */
export const isAlert = (severity: Severity): severity is AlertSeverity =>
  severity === 'critical' || severity === 'high'
