// Makes the findings of a session's record from its parts, with its security score.

import { compareText } from '../../base/text.ts'
import { dangerousActionFinding } from '../detection/dangerous-actions.ts'
import { secretFinding, securityScore, withOmittedCount } from '../detection/secrets.ts'
import { type FindingRecord, MAX_FINDINGS, SEVERITY_RANK } from '../records/finding.ts'
import type { DangerousAction, SessionFragments } from '../records/fragments.ts'
import type { SessionRecord } from '../records/session.ts'

/** The number of a turn, or of the last turn at the time `at`; null for neither. */
type NumberOf = (turn: string | null, at: string | null) => number | null

/** Score and findings of a session: secrets, dangerous actions and modes, sensitive files. The most severe are kept. */
export function securityMetadataOf(
  parts: SessionFragments,
  numberOf: NumberOf,
): NonNullable<SessionRecord['security_metadata']> {
  const all = [...secretFindings(parts, numberOf), ...dangerousActionFindings(parts, numberOf)]
  const findings = all
    .toSorted((a, b) => SEVERITY_RANK[a.severity] - SEVERITY_RANK[b.severity])
    .slice(0, MAX_FINDINGS)
  findings.sort(
    (a, b) =>
      (a.turn_number ?? 0) - (b.turn_number ?? 0) || compareText(a.fingerprint ?? '', b.fingerprint ?? ''),
  )
  return { score: securityScore(all), findings: withOmittedCount(findings, all.length - findings.length) }
}

function secretFindings({ secrets }: SessionFragments, numberOf: NumberOf): FindingRecord[] {
  return secrets.map(({ turn, file, where, exposed, ...secret }) => {
    const severity = exposed ? 'critical' : secret.severity
    return secretFinding({ ...secret, severity }, { where, file, turnNumber: numberOf(turn, null) })
  })
}

// One finding per rule and file, with its highest severity and its first turn.
function dangerousActionFindings(parts: SessionFragments, numberOf: NumberOf): FindingRecord[] {
  const findings = new Map<string, FindingRecord>()
  const add = (action: DangerousAction, number: number | null) => {
    const finding = dangerousActionFinding(action, number)
    const key = finding.fingerprint ?? ''
    const same = findings.get(key)
    const [worse, other] =
      same !== undefined && SEVERITY_RANK[same.severity] <= SEVERITY_RANK[finding.severity]
        ? [same, finding]
        : [finding, same]
    const numbers = [worse.turn_number, other?.turn_number].filter((each) => typeof each === 'number')
    findings.set(key, { ...worse, turn_number: numbers.length === 0 ? null : Math.min(...numbers) })
  }
  for (const { action, at } of parts.modes) add(action, numberOf(null, at))
  for (const { actions, rejected, ok, turn } of parts.calls) {
    // a rejected call was not run, and a call that failed accessed no file
    if (rejected) continue
    for (const action of actions)
      if (ok !== false || action.category !== 'file') add(action, numberOf(turn, null))
  }
  return [...findings.values()]
}
