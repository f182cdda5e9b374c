import type { FindingRecord } from '../../analysis/records/finding.ts'
import { normalizeTimestamp } from '../../base/dates.ts'
import { derivedId } from '../../base/ids.ts'
import type { Finding } from './model.ts'

/** Fills in what the findings of a session leave out. */
export function findingsOf(sessionId: string, found: readonly FindingRecord[], createdAt: string): Finding[] {
  /** Equal findings are counted: each gets an id of its own, and the same id when the session is sent again. */
  const seen = new Map<string, number>()
  return found.map((finding) => {
    const { title, file, line, turn_number } = finding
    const ruleId = finding.rule_id ?? 'unknown'
    const place = [ruleId, title ?? '', file ?? '', line ?? 0, turn_number ?? 0]
    const fingerprint =
      finding.fingerprint ?? derivedId('finding', ...place, finding.severity).slice('finding_'.length)
    const key = JSON.stringify([fingerprint, ...place])
    const nth = seen.get(key) ?? 0
    seen.set(key, nth + 1)
    return {
      id: finding.id ?? derivedId('finding', sessionId, fingerprint, ...place, ...(nth === 0 ? [] : [nth])),
      rule_id: ruleId,
      category: finding.category ?? 'other',
      severity: finding.severity,
      title: title ?? ruleId,
      description: finding.description ?? null,
      file: file ?? null,
      line: line ?? null,
      turn_number: turn_number ?? null,
      fingerprint,
      status: finding.status ?? 'open',
      ...(finding.note === undefined ? {} : { note: finding.note }),
      created_at: finding.created_at ? normalizeTimestamp(finding.created_at) : createdAt,
    }
  })
}
