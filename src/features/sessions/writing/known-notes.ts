// Keeps what is known of calls where an older client sends a session without it.

import {
  CALL_NOTE_NAMES,
  type CallNotes,
  type KnownTokens,
  notesOf,
  SESSION_NOTE_NAMES,
  type SessionRecord,
  type TurnRecord,
} from '../../../analysis/records/session.ts'
import { normalizeTimestamp } from '../../../base/dates.ts'
import { idsOf } from '../../../base/ids.ts'
import type { ISql } from '../../../database/client.ts'
import { type PreparedSession, prepareSession } from '../prepare.ts'
import { findNoted, findRecords } from '../store-write.ts'
import type { StoredSession } from '../stored-queries.ts'
import { isOfClient, type MergeOptions, recordHead } from './telemetry.ts'

/**
 * The sessions of clients that send no parts, with the notes and the kind of cache writes which are known of their turns where the
 * record says nothing of them: a client of an earlier version sends none.
 */
export async function withKnownNotes(
  tx: ISql,
  orgId: string,
  sessions: readonly PreparedSession[],
  stored: ReadonlyMap<string, Pick<StoredSession, 'hash'>>,
  options: MergeOptions,
): Promise<readonly PreparedSession[]> {
  const changed = sessions.filter((session) => {
    const row = stored.get(session.id)
    return row !== undefined && isOfClient(session) && Buffer.compare(row.hash, session.hash) !== 0
  })
  const records = await findRecords(tx, orgId, await findNoted(tx, orgId, idsOf(changed)))
  return sessions.map((session) => {
    if (!isOfClient(session) || session.record === undefined) return session
    const before = records.get(session.id)
    const record = before === undefined ? session.record : withNotesOf(before, session.record)
    records.set(session.id, record)
    return record === session.record
      ? session
      : prepareSession({ ...record, ...recordHead(session) }, session.field, options)
  })
}

/** The record itself where nothing more is known. */
function withNotesOf(before: SessionRecord, record: SessionRecord): SessionRecord {
  const notes = lackingIn(record, before, SESSION_NOTE_NAMES)
  const tokens = withHour(record.tokens, before.tokens)
  const turns = new Map((before.turn_records ?? []).map((turn, index) => [turnKey(turn, index), turn]))
  let hasMore = notes !== undefined || tokens !== record.tokens
  const turn_records = (record.turn_records ?? []).map((turn, index) => {
    const same = turns.get(turnKey(turn, index))
    if (same === undefined) return turn
    const more = lackingIn(turn, same, CALL_NOTE_NAMES)
    const tokens = withHour(turn.tokens, same.tokens)
    if (more === undefined && tokens === turn.tokens) return turn
    hasMore = true
    return { ...turn, ...more, ...(tokens && { tokens }) }
  })
  return hasMore ? { ...record, ...notes, ...(tokens && { tokens }), turn_records } : record
}

/** A turn is the same by its number, role and time. */
const turnKey = ({ turn_number, role, started_at }: TurnRecord, index: number): string =>
  `${turn_number ?? index + 1} ${role ?? 'assistant'} ${started_at ? normalizeTimestamp(started_at) : ''}`

type Notes = Parameters<typeof notesOf>[0]
function lackingIn(notes: Notes, before: Notes, names: readonly (keyof CallNotes)[]): CallNotes | undefined {
  const lacking = names.filter((name) => notes[name] == null && before[name] != null)
  return lacking.length === 0 ? undefined : notesOf(before, lacking)
}

type Tokens = Partial<KnownTokens> | null | undefined
const withHour = <Own extends Tokens>(tokens: Own, before: Tokens): Own =>
  tokens &&
  before?.cache_creation_1h &&
  tokens.cache_creation_1h == null &&
  tokens.cache_creation === before.cache_creation
    ? { ...tokens, cache_creation_1h: before.cache_creation_1h }
    : tokens
