// Merges parts of a session that are sent with those that are stored, and keeps the decisions about its findings.

import { isBetterName, mergeFragments } from '../../../analysis/fragments/merge.ts'
import { composeRecord, turnIds } from '../../../analysis/fragments/session-record.ts'
import { MAX_FINDINGS } from '../../../analysis/records/finding.ts'
import { packFragments, type SessionFragments, unpackFragments } from '../../../analysis/records/fragments.ts'
import { DAY_MS } from '../../../base/dates.ts'
import { ApiError } from '../../../base/errors.ts'
import type { ISql } from '../../../database/client.ts'
import type { StoredFinding } from '../model.ts'
import { type PreparedSession, prepareSession } from '../prepare.ts'
import { findFragments, type StoredFragments } from '../store-write.ts'
import type { StoredSession } from '../stored-queries.ts'
import {
  addedToRecords,
  fragmentsOf,
  hasOnlyTelemetry,
  isOfClient,
  type MergeOptions,
  recordHead,
  withKeptTelemetry,
} from './telemetry.ts'

/** A session as it is stored, as far as it decides on parts that are sent. */
type Stored = Pick<StoredSession, 'project' | 'user_id' | 'user_email' | 'hash' | 'origin'>

interface KnownSession extends Stored {
  parts: string
  turns: NonNullable<StoredFragments['turns']>
}

/**
 * The sessions with what is already known of them: by earlier records of the batch, and in the database; without those that
 * add nothing. Sessions without parts are as they were sent.
 */
export async function withKnownFragments(
  tx: ISql,
  orgId: string,
  sessions: readonly PreparedSession[],
  stored: ReadonlyMap<string, Stored>,
  options: MergeOptions,
): Promise<PreparedSession[]> {
  const isNew = ({ id, hash }: PreparedSession) =>
    Buffer.compare(stored.get(id)?.hash ?? new Uint8Array(), hash) !== 0
  const hasTelemetry = ({ id }: PreparedSession) => (stored.get(id)?.origin ?? 'transcript') !== 'transcript'
  const ids = sessions.flatMap((session) =>
    (session.parts !== null || hasTelemetry(session)) && isNew(session) ? [session.id] : [],
  )
  const storedFragments = await findFragments(tx, orgId, ids, options.storeContent)
  const byId = new Map<string, KnownSession>()
  for (const { id, parts, turns } of storedFragments) {
    const session = stored.get(id)
    if (session !== undefined) byId.set(id, { ...session, parts, turns: turns ?? [] })
  }
  // a session of a client that sends no parts stands as that client sent it
  const isPlain = (id: string) => {
    const { origin } = stored.get(id) ?? { origin: 'telemetry' }
    const parts = byId.get(id)?.parts
    return origin !== 'telemetry' && (parts === undefined || (origin === 'both' && hasOnlyTelemetry(parts)))
  }
  const fromTelemetry = sessions.filter(({ id, detail }) => detail.origin === 'telemetry' && isPlain(id))
  const added = await addedToRecords(tx, orgId, fromTelemetry, options)
  /** Clients' sessions of this batch: telemetry of their sub-agents comes behind them. */
  const clients = new Map<string, PreparedSession>()
  const withKnown = (session: PreparedSession) => {
    const { id } = session
    const before = byId.get(id)
    const isTelemetry = session.detail.origin === 'telemetry'
    if (!isTelemetry && isOfClient(session)) {
      const kept = withKeptTelemetry(session, before && unpackFragments(before.parts), options)
      clients.set(id, kept)
      return kept
    }
    const client = isTelemetry ? clients.get(id) : undefined
    if (client !== undefined) return withKeptTelemetry(client, fragmentsOf(session), options)
    if (isTelemetry && added.has(id)) return added.get(id)
    const merged = merge(session, before, options)
    if (merged === undefined) return undefined
    if (merged.parts === null) byId.delete(id)
    else byId.set(id, knownOf(merged, merged.parts))
    return merged
  }
  const result: PreparedSession[] = []
  for (const session of sessions) {
    await options.pause?.()
    const merged = withKnown(session)
    if (merged !== undefined) result.push(merged)
  }
  return result
}

const knownOf = (session: PreparedSession, parts: string): KnownSession => ({
  ...session,
  origin: session.detail.origin,
  parts,
  turns: session.detail.turn_records,
})

/** Undefined for a session that adds nothing to what is known, and for telemetry beyond what a session keeps. */
function merge(
  session: PreparedSession,
  stored: KnownSession | undefined,
  options: MergeOptions,
): PreparedSession | undefined {
  const isTelemetry = session.telemetry !== undefined || session.detail.origin === 'telemetry'
  if (stored === undefined) return session.telemetry ? composed(session, session.telemetry, options) : session
  const [given, had] = [fragmentsOf(session), unpackFragments(stored.parts)]
  if (given === undefined || had === undefined) return isTelemetry ? undefined : session
  const sent = isTelemetry ? addedTo(had, given) : given
  const parts = mergeFragments(had, sent)
  const hasAll = Bun.deepEquals(parts, sent)
  const [before, after] = [contentsOf(had, stored.turns), contentsOf(sent, session.detail.turn_records)]
  const contents = longerTexts(before, after)
  const isKept =
    !isBetterName(sent.project, had.project) &&
    (isTelemetry || !hasAll || isBetterName(had.project, sent.project))
  const project = isKept ? stored.project : session.project
  const isWhole = session.telemetry === undefined && hasAll
  if (isWhole && project === session.project && !addsTo(after, contents)) return session
  const isSameUser = session.user_id === stored.user_id && session.user_email === stored.user_email
  const isSame = project === stored.project && !addsTo(before, contents) && Bun.deepEquals(parts, had)
  if (isSameUser && isSame) return undefined
  // telemetry beyond what a session keeps is not added, and a transcript is stored without it
  return composed({ ...session, project }, parts, options, contents) ?? (isTelemetry ? undefined : session)
}

/**
 * Telemetry as far as it adds to what is known. Whoever has a key for telemetry may know of the sessions of others: it gives no
 * call another model, by which it might cost nothing, no session another agent or project, and moves none to another time.
 */
function addedTo(
  had: SessionFragments,
  { telemetry, turns, project, ...sent }: SessionFragments,
): SessionFragments {
  const models = new Map(had.turns.map(({ id, model }) => [id, model]))
  const isOther = (model: string | null, previous: string | null | undefined) =>
    model !== null && previous != null && model !== previous
  const from = had.telemetry?.from ?? null
  const isLongBefore =
    telemetry?.from != null && from !== null && Date.parse(telemetry.from) < Date.parse(from) - DAY_MS
  return {
    ...sent,
    agent: had.agent,
    project: project.rank === had.project.rank ? had.project : project,
    turns: turns.filter(({ id, model }) => !isOther(model, models.get(id))),
    ...(telemetry && { telemetry: isLongBefore ? { ...telemetry, from } : telemetry }),
  }
}

/** The session composed of these parts; undefined where they are beyond what a session keeps, and have telemetry. */
function composed(
  session: PreparedSession,
  parts: SessionFragments,
  options: MergeOptions,
  contents?: ReadonlyMap<string, string>,
): PreparedSession | undefined {
  const { id, field } = session
  const { record } = composeRecord(parts, recordHead(session), { pricer: options.pricer, contents }) ?? {}
  const packed = packFragments(parts)
  const hasTelemetry = parts.telemetry !== undefined
  try {
    if (record !== undefined && (packed !== undefined || !hasTelemetry))
      return prepareSession({ ...record, parts: packed ?? null }, field, { ...options, unpacked: parts })
  } catch (error) {
    if (!hasTelemetry || !(error instanceof ApiError)) throw error
  }
  if (hasTelemetry) options.onBeyond?.(id)
  return undefined
}

type Texts = ReadonlyMap<string, string>

/** The texts of both: of a turn the longer one, then the least, so that their order does not matter. */
function longerTexts(a: Texts, b: Texts): Texts {
  const texts = new Map(a)
  for (const [turn, text] of b) {
    const other = texts.get(turn) ?? ''
    if (text.length > other.length || (text.length === other.length && text < other)) texts.set(turn, text)
  }
  return texts
}

const addsTo = (texts: Texts, all: Texts): boolean =>
  [...all].some(([turn, text]) => texts.get(turn) !== text)

/** The texts of a session's turns by the ids of their parts. */
function contentsOf(parts: SessionFragments, turns: KnownSession['turns']): Map<string, string> {
  if (turns.every(({ content }) => content === undefined)) return new Map()
  const ids = turnIds(parts)
  return new Map(
    turns.flatMap(({ content }, index): [string, string][] => {
      const id = ids[index]
      return content === undefined || id === undefined ? [] : [[id, content]]
    }),
  )
}

/**
 * The session with what was decided about its findings before: by their ids, else by file and fingerprint, as a finding whose
 * turn has another number now has another id. One that is not open and was not sent stays: otherwise it would be open when it is
 * sent the next time. Its hash stays that of what was sent.
 */
export function keepDecisions(session: PreparedSession, decided: readonly StoredFinding[]): PreparedSession {
  if (decided.length === 0) return session
  const { security_metadata } = session.detail
  const ids = new Set(security_metadata.findings.map(({ id }) => id))
  const gone = decided.filter(({ id }) => !ids.has(id))
  const findings = security_metadata.findings.map((finding) => {
    const previous =
      decided.find(({ id }) => id === finding.id) ??
      gone.find(({ file, fingerprint }) => file === finding.file && fingerprint === finding.fingerprint)
    return previous === undefined
      ? finding
      : withDecision(finding, { assignee: undefined, note: undefined, ...previous })
  })
  const isThere = ({ file, fingerprint }: StoredFinding) =>
    findings.some((finding) => finding.file === file && finding.fingerprint === fingerprint)
  const parts = gone
    .filter((finding) => finding.status !== 'open' && !isThere(finding))
    .slice(0, Math.max(0, MAX_FINDINGS - findings.length))
  return {
    ...session,
    detail: {
      ...session.detail,
      security_metadata: { ...security_metadata, findings: [...findings, ...parts] },
    },
  }
}

/** The finding with another decision. Its fields are in the order of a prepared one's. */
export function withDecision(
  { status: _status, assignee: _assignee, note: _note, created_at, ...finding }: StoredFinding,
  { status, assignee, note }: Pick<StoredFinding, 'status'> & Record<'assignee' | 'note', string | undefined>,
): StoredFinding {
  const decision = { ...(assignee !== undefined && { assignee }), ...(note !== undefined && { note }) }
  return { ...finding, status, ...decision, created_at }
}
