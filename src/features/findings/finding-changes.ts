// Decides findings by a request (status, assignee), and opens fixed ones again that are shown again.

import { recordEntries, recordEntry, SYSTEM } from '../../accounts/audit-log/append.ts'
import { grants } from '../../accounts/keys/rights.ts'
import type { Access } from '../../accounts/people/callers.ts'
import { ApiError } from '../../base/errors.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { inOrganization } from '../../database/org-lock.ts'
import type { Viewer } from '../../http/whole-list.ts'
import type { FindingStatusBody, ListedFinding } from '../security/finding-model.ts'
import { findSessionsOf, findShownAgain, getFinding } from '../security/finding-queries.ts'
import { writeFindings } from '../security/write.ts'
import { readTexts } from '../sessions/deleted-queries.ts'
import type { SessionDetailBody, StoredFinding } from '../sessions/model.ts'
import { withDecision } from '../sessions/writing/merge-fragments.ts'
import { replaceFindings } from '../sessions/writing/write.ts'
import { findMemberIds, getMemberId } from '../usage/member-queries.ts'

const ACTIONS = {
  open: 'finding.reopened',
  fixed: 'finding.fixed',
  accepted: 'finding.accepted',
  dismissed: 'finding.dismissed',
} as const satisfies Record<StoredFinding['status'], string>

/**
 * Changes what is decided about a finding, in every session that has its id, with all that counts findings; scores stay.
 * Returns the finding. Throws NOT_FOUND, FORBIDDEN for who may not, and VALIDATION_ERROR for an assignee that there is not.
 */
export async function changeFinding(
  writes: Sql,
  access: Access,
  id: string,
  body: FindingStatusBody,
  shown: Viewer,
): Promise<ListedFinding> {
  const { orgId, actor } = access
  return await inOrganization(writes, orgId, async (tx) => {
    await refuseUnlessMay(tx, access, id, body, shown)
    const ids = await findSessionsOf(tx, orgId, id, shown)
    const assignee =
      body.assignee == null ? undefined : await getMemberId(tx, orgId, body.assignee, 'assignee')
    const { status, note } = body
    const before = await decide(tx, orgId, ids, [id], (finding) => ({
      status: status ?? finding.status,
      assignee: body.assignee === undefined ? finding.assignee : assignee,
      note: status === undefined ? (note ?? finding.note) : note,
    }))
    const isChanged = (field: 'status' | 'assignee' | 'note', now: string | undefined) =>
      before.some((finding) => finding[field] !== now)
    const actions = [
      ...(status !== undefined && isChanged('status', status) ? [ACTIONS[status]] : []),
      ...(body.assignee !== undefined && isChanged('assignee', assignee) ? ['finding.assigned'] : []),
    ]
    if (actions.length === 0 && note !== undefined && isChanged('note', note)) actions.push('finding.noted')
    const noted = note === undefined ? {} : { note }
    const entries = actions.map((action) => ({
      action,
      details: { ids: [id], ...(action === 'finding.assigned' ? { assignee: assignee ?? null } : noted) },
    }))
    await recordEntries(tx, orgId, actor, entries)
    return await getFinding(tx, orgId, id, shown)
  })
}

/** Opens the fixed findings again that these, which their sessions did not have before, show. */
export async function reopenFixed(
  tx: ISql,
  orgId: string,
  shown: readonly { session_id: string; fingerprint: string }[],
): Promise<void> {
  const again = await findShownAgain(tx, orgId, shown)
  if (again.length === 0) return
  const ids = [...new Set(again.map(({ id }) => id))]
  const sessions = [...new Set(again.map(({ session_id }) => session_id))]
  await decide(tx, orgId, sessions, ids, ({ assignee }) => ({ status: 'open', assignee, note: undefined }))
  await recordEntry(tx, orgId, SYSTEM, 'finding.reopened', { ids })
}

type Decision = Parameters<typeof withDecision>[1]

/** Decides about the findings `ids` of the sessions. Returns them as they were, as far as they change. */
async function decide(
  tx: ISql,
  orgId: string,
  sessions: string[],
  ids: readonly string[],
  decisionOf: (finding: StoredFinding) => Decision,
): Promise<StoredFinding[]> {
  const before: StoredFinding[] = []
  const changed = (await readTexts(tx, orgId, sessions)).map((session) => {
    const detail = JSON.parse(session.detail) as SessionDetailBody
    const { security_metadata } = detail
    const findings = security_metadata.findings.map((finding) => {
      const after = ids.includes(finding.id) ? withDecision(finding, decisionOf(finding)) : finding
      if (!Bun.deepEquals(finding, after)) before.push(finding)
      return after
    })
    return {
      ...session,
      detail: JSON.stringify({ ...detail, security_metadata: { ...security_metadata, findings } }),
    }
  })
  if (before.length > 0) {
    await replaceFindings(tx, orgId, changed)
    await writeFindings(tx, orgId, sessions)
  }
  return before
}

/** Throws FORBIDDEN, but for admins, and for the assignee who says that it is fixed, or is not. */
async function refuseUnlessMay(
  tx: ISql,
  { orgId, scopes, person, memberEmail }: Access,
  id: string,
  { status, assignee }: FindingStatusBody,
  shown: Viewer,
): Promise<void> {
  if (grants(scopes, 'admin')) return
  const isOwnState = (status === 'fixed' || status === 'open') && assignee === undefined
  const caller = person?.email ?? memberEmail
  if (isOwnState && caller !== null) {
    const callerId = (await findMemberIds(tx, orgId, [caller])).get(caller)
    const finding = await getFinding(tx, orgId, id, { ...shown, hidesMembers: false }).catch(() => undefined)
    if (callerId !== undefined && finding?.assignee === callerId) return
  }
  throw new ApiError(
    'FORBIDDEN',
    'This needs an API key with the scope admin; its assignee may set a finding to fixed or open',
  )
}
