import { type Actor, recordEntries } from '../../accounts/audit-log/append.ts'
import type { Sql } from '../../database/client.ts'
import { inOrganization } from '../../database/org-lock.ts'
import type { FindingStatusBody, ListedFinding } from '../security/finding-model.ts'
import { findSessionsOf, getFinding, type Shown } from '../security/finding-queries.ts'
import { writeFindings } from '../security/write.ts'
import { readTexts } from '../sessions/deleted-queries.ts'
import type { SessionDetailBody } from '../sessions/model.ts'
import { withStatus } from '../sessions/writing/merge-fragments.ts'
import { replaceTexts } from '../sessions/writing/write.ts'

/**
 * Dismisses a finding or opens it again, in every session that has its id, with all that counts findings; scores stay.
 * Returns the finding. Throws NOT_FOUND.
 */
export async function setFindingStatus(
  writes: Sql,
  orgId: string,
  actor: Actor,
  id: string,
  { status, note }: FindingStatusBody,
  shown: Shown,
): Promise<ListedFinding> {
  return await inOrganization(writes, orgId, async (tx) => {
    const ids = await findSessionsOf(tx, orgId, id, shown)
    let isChanged = false
    const sessions = (await readTexts(tx, orgId, ids)).map((session) => {
      const detail = JSON.parse(session.detail) as SessionDetailBody
      const { security_metadata } = detail
      const findings = security_metadata.findings.map((finding) =>
        finding.id === id && status !== undefined ? withStatus(finding, status, note) : finding,
      )
      isChanged ||= !Bun.deepEquals(findings, security_metadata.findings)
      const changed = { ...detail, security_metadata: { ...security_metadata, findings } }
      return { ...session, detail: JSON.stringify(changed) }
    })
    if (isChanged) {
      await replaceTexts(tx, orgId, sessions)
      await writeFindings(tx, orgId, ids)
      const action = status === 'dismissed' ? 'finding.dismissed' : 'finding.reopened'
      const details = { ids: [id], ...(note !== undefined && status === 'dismissed' ? { note } : {}) }
      await recordEntries(tx, orgId, actor, [{ action, details }])
    }
    return await getFinding(tx, orgId, id, shown)
  })
}
