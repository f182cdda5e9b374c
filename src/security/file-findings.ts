import { fileKeyOf } from '../ids.ts'
import type { Severity } from '../records/finding.ts'

/** What a session counts for in the heatmap: one per file and fingerprint, at its gravest severity. */
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

const RANK: Readonly<Record<Severity, number>> = { critical: 0, high: 1, medium: 2, low: 3 }

/** A session as far as the heatmap counts it. */
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
    const gravest = new Map<string, FileFinding>()
    for (const { file, fingerprint, severity } of detail.security_metadata.findings) {
      if (file === null || file === '') continue
      const key = JSON.stringify([file, fingerprint])
      const known = gravest.get(key)
      if (known === undefined || RANK[severity] < RANK[known.severity]) {
        const fileKey = known?.fileKey ?? fileKeyOf(file)
        gravest.set(key, { sessionId: id, project, createdAt, file, fileKey, fingerprint, severity })
      }
    }
    return [...gravest.values()]
  })
}
