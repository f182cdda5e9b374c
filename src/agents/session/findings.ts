import { type Danger, dangerFinding } from '../../detection/dangerous.ts'
import { findingOf, securityScore, tellingBeyond } from '../../detection/secrets.ts'
import type { FindingRecord, Severity } from '../../records/finding.ts'
import type { SessionRecord } from '../../records/session.ts'
import type { Session, Turn } from './session-model.ts'

/** Places of a session, as its record gives them. */
export interface Places {
  /** From the working folder where the file lies in it. */
  pathOf: (path: string) => string
  numberOf: (turn: Turn | null, at: string | null) => number | null
}

/** The schema's limit; of more, the gravest are kept. */
const MAX_FINDINGS = 1_000
const RANK: Readonly<Record<Severity, number>> = { critical: 0, high: 1, medium: 2, low: 3 }

/** Score and findings of a session that is read to its end: secrets, dangerous commands and modes, sensitive files. */
export function securityOf(
  session: Session,
  places: Places,
): NonNullable<SessionRecord['security_metadata']> {
  const all = [...secretFindings(session, places), ...dangerFindings(session, places)]
  const findings = all.toSorted((a, b) => RANK[a.severity] - RANK[b.severity]).slice(0, MAX_FINDINGS)
  findings.sort(
    (a, b) =>
      (a.turn_number ?? 0) - (b.turn_number ?? 0) || compare(a.fingerprint ?? '', b.fingerprint ?? ''),
  )
  return { score: securityScore(all), findings: tellingBeyond(findings, all.length - findings.length) }
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

function secretFindings(session: Session, { pathOf, numberOf }: Places): FindingRecord[] {
  return [...session.secrets.values()].map(({ place, finding }) => {
    const path = place.call?.nature.file ?? null
    return findingOf(finding, {
      file: path === null ? null : pathOf(path),
      turnNumber: numberOf(place.turn, null),
      severity: place.outward ? 'critical' : finding.severity,
      where: place.where,
    })
  })
}

// One rule at one place is one finding, at its gravest, with the turn where it first was.
function dangerFindings(session: Session, places: Places): FindingRecord[] {
  const findings = new Map<string, FindingRecord>()
  const add = (danger: Danger, turn: Turn | null, at: string | null) => {
    const file = danger.file === null ? null : homeless(places.pathOf(danger.file))
    const finding = dangerFinding(danger, file, places.numberOf(turn, at))
    const key = finding.fingerprint ?? ''
    const known = findings.get(key)
    if (known === undefined) findings.set(key, finding)
    else if (RANK[finding.severity] < RANK[known.severity])
      findings.set(key, { ...finding, turn_number: known.turn_number ?? null })
  }
  for (const { danger, at } of session.modes.values()) add(danger, null, at)
  for (const [id, { call, turn }] of session.calls) {
    // what the user refused did not happen; a file that could not be read was not
    if (call.dangers.length === 0 || session.events.has(`rejection ${id}`)) continue
    for (const danger of call.dangers)
      if (call.ok !== false || danger.category !== 'file') add(danger, turn, null)
  }
  return [...findings.values()]
}

/** `~` for the home folder of whoever it is: one place for all, and no name. */
const homeless = (path: string): string => path.replace(/^(?:\/(?:home|Users)\/[^/]+|\/root)(?=\/)/, '~')
