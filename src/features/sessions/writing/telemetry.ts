// Makes sessions of telemetry, and joins them with what transcripts and clients say of the same sessions.

import { mergeFragments } from '../../../analysis/fragments/merge.ts'
import { composeRecord, type RecordHead } from '../../../analysis/fragments/session-record.ts'
import { coverageOf, originOf, telemetryOf } from '../../../analysis/fragments/telemetry-and-transcripts.ts'
import { packFragments, type SessionFragments, unpackFragments } from '../../../analysis/records/fragments.ts'
import type { Pricer } from '../../../analysis/scoring/prices.ts'
import { idsOf } from '../../../base/ids.ts'
import type { ISql } from '../../../database/client.ts'
import { NO_PROJECT, type PreparedSession, prepareSession, sessionHash } from '../prepare.ts'
import { findIncluding, findRecords, storeIncludes } from '../store-write.ts'
import { findPeopleOfUsers } from './reassignment-queries.ts'

export interface MergeOptions {
  pricer: Pricer
  storeContent: boolean
  /** Called between two sessions: lets other work run. */
  pause?: () => Promise<void> | undefined
  /** Called with a session whose telemetry is not kept, since it is beyond the limits of a session. */
  onBeyond?: ((id: string) => void) | undefined
}

// Joins telemetry of a session with what else is known of it (docs/sync.md).

/** A session of telemetry, whose record is composed when it is written (merge-fragments.ts): until then what identifies it. */
export function telemetrySession(
  telemetry: SessionFragments,
  head: RecordHead,
  field: string,
  options: MergeOptions,
): PreparedSession {
  const composed = composeRecord({ ...telemetry, turns: [], calls: [] }, head, options)
  if (composed === null) throw new Error('telemetry states no time')
  return { ...prepareSession({ ...composed.record, parts: '' }, field, options), telemetry }
}

/** The fields that a session's record has beside its parts. */
export const recordHead = ({
  id,
  project,
  user_id,
  user_email,
}: Pick<PreparedSession, 'id' | 'project' | 'user_id' | 'user_email'>): RecordHead => ({
  ...{ id, user_id, user_email },
  project_name: project === NO_PROJECT ? null : project,
})

export const fragmentsOf = ({ telemetry, parts }: PreparedSession): SessionFragments | undefined =>
  telemetry ?? (parts === null ? undefined : unpackFragments(parts))

const isTelemetry = ({ detail }: PreparedSession): boolean => detail.origin === 'telemetry'

/**
 * The sessions, with telemetry of a sub-agent as telemetry of the session that names it: unless the sub-agent's session has
 * a transcript of its own, or is another member's.
 */
export async function withSubAgentsTelemetry(
  tx: ISql,
  orgId: string,
  sent: readonly PreparedSession[],
  options: MergeOptions,
): Promise<readonly PreparedSession[]> {
  const telemetry = sent.filter(isTelemetry)
  const including = await findIncluding(tx, orgId, idsOf(telemetry))
  if (including.size === 0) return sent
  const people = await findPeopleOfUsers(tx, orgId, [...telemetry, ...including.values()])
  return sent.map((session) => {
    const parent = isTelemetry(session) ? including.get(session.id) : undefined
    if (parent === undefined) return session
    const isNobodys = people.keyOf(session) === null
    return (parent.is_bound && isNobodys) || people.isOtherMember(session, parent)
      ? session
      : underId(session, { ...session, id: parent.session_id }, options)
  })
}

/**
 * Telemetry that is stored of the sub-agents which these sessions name, as telemetry of these sessions, and the ids under
 * which it is stored. Notes which sub-agents the sessions name, but for sessions with a transcript of their own and those
 * that another session names, and those of other members. `isBound`: a member's key sends them, which takes no session of
 * nobody either.
 */
export async function findSubAgents(
  tx: ISql,
  orgId: string,
  sessions: readonly PreparedSession[],
  options: MergeOptions & { isBound: boolean },
): Promise<{ telemetry: PreparedSession[]; ids: string[] }> {
  const byId = new Map(sessions.flatMap((session) => session.includes.map((id) => [id, session] as const)))
  for (const { id } of sessions) byId.delete(id)
  if (byId.size === 0) return { telemetry: [], ids: [] }
  const stored = await findRecords(tx, orgId, [...byId.keys()])
  const people = await findPeopleOfUsers(tx, orgId, [...stored.values(), ...sessions])
  for (const [id, record] of stored) {
    const session = byId.get(id)
    const isOthers =
      session !== undefined &&
      (people.isOtherMember(record, session) ||
        (options.isBound && people.keyOf(record) !== people.keyOf(session)))
    if (record.origin !== 'telemetry' || isOthers) byId.delete(id)
  }
  const includes = [...byId].map(([id, session]) => ({ id, session_id: session.id }))
  const claimed = await storeIncludes(tx, orgId, includes, options.isBound)
  const telemetry: PreparedSession[] = []
  const ids: string[] = []
  for (const id of claimed) {
    const [session, record] = [byId.get(id), stored.get(id)]
    if (session === undefined || record === undefined) continue
    ids.push(id)
    telemetry.push(underId(prepareSession(record, session.field, options), session, options))
  }
  return { telemetry, ids }
}

function underId(
  session: PreparedSession,
  { id, user_id, user_email }: Pick<PreparedSession, 'id' | 'user_id' | 'user_email'>,
  options: MergeOptions,
): PreparedSession {
  if (session.telemetry !== undefined) return { ...session, id, user_id, user_email }
  const parts = fragmentsOf(session)
  const head = recordHead({ id, project: session.project, user_id, user_email })
  const composed = parts === undefined ? null : composeRecord(parts, head, options)
  return composed === null || session.parts === null
    ? session
    : prepareSession({ ...composed.record, parts: session.parts }, session.field, options)
}

/** Whether a client of its own sent the session: without parts, or exported with those of its telemetry. */
export const isOfClient = ({ parts, detail }: PreparedSession): boolean =>
  parts === null || (detail.origin === 'both' && hasOnlyTelemetry(parts))

/** A client's session with its telemetry and that of `known`. */
export function withKeptTelemetry(
  session: PreparedSession,
  before: SessionFragments | undefined,
  options: MergeOptions,
): PreparedSession {
  const previous = before === undefined ? undefined : telemetryOf(before)
  const fragments = fragmentsOf(session)
  const all =
    previous === undefined || fragments === undefined
      ? (previous ?? fragments)
      : mergeFragments(previous, fragments)
  return (all && withTelemetryFragments(session, all, options)) ?? session
}

/** A session of a client without parts, with the telemetry that is known of it; undefined where that is too large. */
function withTelemetryFragments(
  session: PreparedSession,
  before: SessionFragments,
  { onBeyond }: MergeOptions,
): PreparedSession | undefined {
  const parts = packFragments(before)
  if (parts === undefined) {
    onBeyond?.(session.id)
    return undefined
  }
  const total = session.coverage.transcript
  const {
    field,
    hash: _hash,
    ...unhashed
  } = {
    ...session,
    parts,
    coverage: { transcript: total, telemetry: coverageOf(before, total, true).telemetry },
    detail: { ...session.detail, origin: 'both' as const },
  }
  return { ...unhashed, field, hash: sessionHash(unhashed) }
}

/**
 * Telemetry that is sent of sessions which are stored as a client of its own sent them: those sessions with it, undefined
 * where that is too large.
 */
export async function addedToRecords(
  tx: ISql,
  orgId: string,
  sent: readonly PreparedSession[],
  options: MergeOptions,
): Promise<Map<string, PreparedSession | undefined>> {
  const records = await findRecords(tx, orgId, idsOf(sent))
  const added = new Map<string, PreparedSession | undefined>()
  for (const session of sent) {
    const record = records.get(session.id)
    const parts = fragmentsOf(session)
    if (record === undefined || parts === undefined) continue
    // an earlier one of the batch may have added some
    const fragments = unpackFragments(added.get(session.id)?.parts ?? record.parts ?? '')
    const { parts: _parts, origin: _origin, ...plain } = record
    const prepared = prepareSession(plain, session.field, options)
    added.set(
      session.id,
      withTelemetryFragments(
        prepared,
        fragments === undefined ? parts : mergeFragments(fragments, parts),
        options,
      ),
    )
  }
  return added
}

export function hasOnlyTelemetry(packed: string): boolean {
  const parts = unpackFragments(packed)
  return parts !== undefined && originOf(parts) === 'telemetry'
}
