import { dateOf, monthOf } from '../dates.ts'
import { fileKeyOf } from '../ids.ts'
import { SEVERITY_RANK, type Severity } from '../records/finding.ts'

/** A finding as the heatmap counts it: one for each session, file and fingerprint, with its highest severity. */
export interface FileFinding {
  sessionId: string
  project: string
  /** Of the session: UTC, milliseconds. */
  createdAt: string
  file: string
  /** The first 16 bytes of SHA-256 of the file's name, in hex. */
  fileKey: string
  fingerprint: string
  severity: Severity
}

/** What the heatmap reads of a session. */
export interface SessionWithFindings {
  id: string
  project: string
  createdAt: string
  detail: {
    security_metadata: {
      findings: readonly { file: string | null; fingerprint: string; severity: Severity }[]
    }
  }
}

/** The sessions' findings that have a file, each file and fingerprint of a session once. */
export function fileFindingsOf(sessions: readonly SessionWithFindings[]): FileFinding[] {
  return sessions.flatMap(({ id, project, createdAt, detail }) => {
    const mostSevere = new Map<string, FileFinding>()
    for (const { file, fingerprint, severity } of detail.security_metadata.findings) {
      if (file === null || file === '') continue
      const key = JSON.stringify([file, fingerprint])
      const known = mostSevere.get(key)
      if (known === undefined || SEVERITY_RANK[severity] < SEVERITY_RANK[known.severity]) {
        const fileKey = known?.fileKey ?? fileKeyOf(file)
        mostSevere.set(key, { sessionId: id, project, createdAt, file, fileKey, fingerprint, severity })
      }
    }
    return [...mostSevere.values()]
  })
}

/** The month and the day that a finding is counted in. */
export function bucketsOf({ createdAt }: FileFinding) {
  const day = dateOf(createdAt)
  return [
    { grain: 'month' as const, bucket: monthOf(day) },
    { grain: 'day' as const, bucket: day },
  ]
}
