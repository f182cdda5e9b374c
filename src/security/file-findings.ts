import { fileKeyOf } from '../ids.ts'
import type { Severity } from '../records/finding.ts'
import type { Finding } from '../sessions/model.ts'

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
