import { dateOf, monthOf } from '../dates.ts'
import { fileKeyOf } from '../ids.ts'
import { SEVERITY_RANK, type Severity } from '../records/finding.ts'
import type { Finding } from '../sessions/model.ts'

/** An open finding as the heatmap counts it: one for each session, file and fingerprint, with its highest severity. */
export interface FileFinding {
  sessionId: string
  project: string
  /** The time of the session: UTC, milliseconds. */
  createdAt: string
  file: string
  /** The first 16 bytes of SHA-256 of the file's name, in hex. */
  fileKey: string
  fingerprint: string
  severity: Severity
}

/** A session with its findings. */
export interface SessionWithFindings {
  id: string
  project: string
  createdAt: string
  userId: string | null
  userEmail: string | null
  detail: { security_metadata: { findings: readonly Finding[] } }
}

/** A row of findings. */
export interface FindingRow {
  session_id: string
  position: number
  id: string
  rule_id: string
  category: string
  severity: Severity
  title: string
  description: string | null
  file: string | null
  file_key: string | null
  line: number | null
  turn_number: number | null
  fingerprint: string
  status: Finding['status']
  note: string | null
  project: string
  member: string
  /** UTC, milliseconds. */
  created_at: string
}

export const findingRowsOf = (sessions: readonly SessionWithFindings[]): FindingRow[] =>
  sessions.flatMap(({ id, project, createdAt, userId, userEmail, detail }) =>
    detail.security_metadata.findings.map(({ file: name, note, ...finding }, position) => {
      const file = name === '' ? null : name
      return {
        ...finding,
        session_id: id,
        position,
        file,
        file_key: file === null ? null : fileKeyOf(file),
        note: note ?? null,
        project,
        member: userId ?? userEmail ?? '',
        created_at: createdAt,
      }
    }),
  )

/** The open findings that have a file, each file and fingerprint of a session once. */
export function fileFindingsOf(rows: readonly FindingRow[]): FileFinding[] {
  const mostSevere = new Map<string, FileFinding>()
  for (const row of rows) {
    const { session_id: sessionId, file, file_key: fileKey, fingerprint, severity, status } = row
    if (file === null || fileKey === null || status === 'dismissed') continue
    const key = JSON.stringify([sessionId, fileKey, fingerprint])
    const known = mostSevere.get(key)
    if (known !== undefined && SEVERITY_RANK[known.severity] <= SEVERITY_RANK[severity]) continue
    const { project, created_at: createdAt } = row
    mostSevere.set(key, { sessionId, project, createdAt, file, fileKey, fingerprint, severity })
  }
  return [...mostSevere.values()]
}

/** The month and the day that a finding is counted in. */
export function bucketsOf({ createdAt }: FileFinding) {
  const day = dateOf(createdAt)
  return [
    { grain: 'month' as const, bucket: monthOf(day) },
    { grain: 'day' as const, bucket: day },
  ]
}
