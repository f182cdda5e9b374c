import { type DangerousAction, dangerousActionFinding } from '../../detection/dangerous-actions.ts'
import { secretFinding, securityScore, withOmittedCount } from '../../detection/secrets.ts'
import { type FindingRecord, SEVERITY_RANK } from '../../records/finding.ts'
import type { SessionRecord } from '../../records/session.ts'
import { compareText } from '../../text.ts'
import type { Transcript, Turn } from './transcript-model.ts'

/** Maps places of a transcript to those of its record. */
interface Places {
  /** The path relative to the working folder that contains the file; any other path as it is. */
  pathOf: (path: string) => string
  /** The number of the turn, or of the last turn at the time `at`; null for neither. */
  numberOf: (turn: Turn | null, at: string | null) => number | null
}

/** The schema's limit; the most severe findings are kept. */
const MAX_FINDINGS = 1_000

/** Score and findings of a complete transcript: secrets, dangerous actions and modes, sensitive files. */
export function securityMetadataOf(
  transcript: Transcript,
  places: Places,
): NonNullable<SessionRecord['security_metadata']> {
  const all = [...secretFindings(transcript, places), ...dangerousActionFindings(transcript, places)]
  const findings = all
    .toSorted((a, b) => SEVERITY_RANK[a.severity] - SEVERITY_RANK[b.severity])
    .slice(0, MAX_FINDINGS)
  findings.sort(
    (a, b) =>
      (a.turn_number ?? 0) - (b.turn_number ?? 0) || compareText(a.fingerprint ?? '', b.fingerprint ?? ''),
  )
  return { score: securityScore(all), findings: withOmittedCount(findings, all.length - findings.length) }
}

function secretFindings(transcript: Transcript, { pathOf, numberOf }: Places): FindingRecord[] {
  return [...transcript.secrets.values()].map(({ place, secret }) => {
    const path = place.call?.effects.file ?? null
    return secretFinding(secret, {
      file: path === null ? null : pathOf(path),
      turnNumber: numberOf(place.turn, null),
      severity: place.exposed ? 'critical' : secret.severity,
      where: place.where,
    })
  })
}

// One finding per rule and file, with its highest severity and its first turn.
function dangerousActionFindings(transcript: Transcript, places: Places): FindingRecord[] {
  const findings = new Map<string, FindingRecord>()
  const add = (action: DangerousAction, turn: Turn | null, at: string | null) => {
    const file = action.file === null ? null : withoutHomeFolder(places.pathOf(action.file))
    const finding = dangerousActionFinding(action, file, places.numberOf(turn, at))
    const key = finding.fingerprint ?? ''
    const known = findings.get(key)
    if (known === undefined) findings.set(key, finding)
    else if (SEVERITY_RANK[finding.severity] < SEVERITY_RANK[known.severity])
      findings.set(key, { ...finding, turn_number: known.turn_number ?? null })
  }
  for (const { action, at } of transcript.modes.values()) add(action, null, at)
  for (const [id, { call, turn }] of transcript.calls) {
    // a rejected call was not run, and a call that failed accessed no file
    if (call.dangerousActions.length === 0 || transcript.events.has(`rejection ${id}`)) continue
    for (const action of call.dangerousActions)
      if (call.ok !== false || action.category !== 'file') add(action, turn, null)
  }
  return [...findings.values()]
}

/** `~` for any home folder: equal paths of all users, without their names. */
const withoutHomeFolder = (path: string): string =>
  path.replace(/^(?:\/(?:home|Users)\/[^/]+|\/root)(?=\/)/, '~')
