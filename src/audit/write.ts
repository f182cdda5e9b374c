import { LAST_MICROS, microsOf, timestampOf } from '../dates.ts'
import type { ISql } from '../db/client.ts'
import { validationError } from '../errors.ts'
import { derivedId } from '../ids.ts'
import type { AuditRecord } from '../records/audit.ts'
import type { SyncRecord } from '../records/records.ts'
import type { Tally } from '../records/tally.ts'
import { deleteRows, insertRows, type LogRow } from './log/append.ts'
import { placeTimes } from './place-times.ts'

const MAX_DETAILS_LENGTH = 16 * 1024
/** Microseconds looked at around a time that is taken; four times as many each time that was not enough. */
const FIRST_WINDOW = 1_024n
const TIME_US = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'

/** A record as it came: `at` is the time it was given. */
interface Entry extends Omit<LogRow, 'givenAt'> {
  index: number
}

interface StoredEntry {
  id: string
  at: string
  given_at: string | null
  action: string
  user_id: string
  details: string
  ip_address: string | null
  imported: boolean
}

/**
 * Writes the batch's audit records. Needs the organization's lock. A record whose time another entry has is moved on to
 * the next free microsecond; the same record again is known by its id and by the time it was given. Throws
 * VALIDATION_ERROR for a record that would change an entry of this service's own, and for details that are too long.
 */
export async function writeAudit(tx: ISql, orgId: string, records: readonly SyncRecord[]): Promise<Tally> {
  const tally: Tally = { created: 0, updated: 0, unchanged: 0 }
  const entries = prepare(records)
  if (entries.length === 0) return tally
  const stored = await findStored(tx, orgId, [...new Set(entries.map((entry) => entry.id))])
  const latest = new Map<string, Entry>()
  for (const entry of entries) {
    const known = stored.get(entry.id)
    const before = latest.get(entry.id)
    const same = before === undefined ? known !== undefined && isSame(entry, known) : sameEntry(entry, before)
    if (same) {
      tally.unchanged += 1
      continue
    }
    if (known?.imported === false) {
      throw validationError({
        field: `records[${entry.index}].id`,
        message: 'is an entry that this service wrote itself: it cannot be changed',
      })
    }
    tally[known === undefined && before === undefined ? 'created' : 'updated'] += 1
    latest.set(entry.id, entry)
  }
  await store(tx, orgId, [...latest.values()], stored)
  return tally
}

function prepare(records: readonly SyncRecord[]): Entry[] {
  const repeated = new Map<string, number>()
  const entries: Entry[] = []
  for (const [index, record] of records.entries()) {
    if (record.type !== 'audit') continue
    const content = contentOf(record)
    if (content.details.length > MAX_DETAILS_LENGTH) {
      const message = `must have at most ${MAX_DETAILS_LENGTH} characters as JSON`
      throw validationError({ field: `records[${index}].details`, message })
    }
    entries.push({ index, id: record.id ?? idOf(content, repeated), ...content })
  }
  return entries
}

const contentOf = (record: AuditRecord) => ({
  at: microsOf(record.created_at),
  action: record.action,
  userId: record.user_id,
  details: JSON.stringify(record.details ?? {}),
  ipAddress: record.ip_address || null,
})

/** A record without an id gets one from what it says, and from how many like it came before it in the batch. */
function idOf(content: ReturnType<typeof contentOf>, repeated: Map<string, number>): string {
  const { at, action, userId, details, ipAddress } = content
  const parts = [timestampOf(at), action, userId, details, ipAddress ?? '']
  const key = JSON.stringify(parts)
  const ordinal = repeated.get(key) ?? 0
  repeated.set(key, ordinal + 1)
  return derivedId('log', ...parts, ordinal)
}

const isSame = (entry: Entry, stored: StoredEntry): boolean =>
  entry.action === stored.action &&
  entry.userId === stored.user_id &&
  entry.details === stored.details &&
  entry.ipAddress === stored.ip_address &&
  hasTime(entry, stored)

/** True when the entry comes with the time it came with before, or with the one it was moved to, as `export` gives it. */
function hasTime(entry: Entry, stored: StoredEntry): boolean {
  const at = timestampOf(entry.at)
  return at === stored.at || at === stored.given_at
}

const sameEntry = (a: Entry, b: Entry): boolean =>
  a.at === b.at &&
  a.action === b.action &&
  a.userId === b.userId &&
  a.details === b.details &&
  a.ipAddress === b.ipAddress

async function findStored(tx: ISql, orgId: string, ids: string[]): Promise<Map<string, StoredEntry>> {
  const rows = await tx<StoredEntry[]>`
    select
      l.id,
      to_char(l.created_at at time zone 'UTC', ${TIME_US}) as at,
      to_char(l.given_at at time zone 'UTC', ${TIME_US}) as given_at,
      l.action,
      l.user_id,
      l.details::text as details,
      l.ip_address,
      l.recorded_at is not null as imported
    from audit_log l
    where l.org_id = ${orgId}
      and l.id = any(${ids}::text[])`
  return new Map(rows.map((row) => [row.id, row]))
}

async function store(
  tx: ISql,
  orgId: string,
  entries: readonly Entry[],
  stored: ReadonlyMap<string, StoredEntry>,
): Promise<void> {
  if (entries.length === 0) return
  await deleteRows(
    tx,
    orgId,
    entries.flatMap(({ id }) => (stored.has(id) ? [id] : [])),
  )
  // an entry that is changed, but not in its time, stays where it is
  const kept = new Map<string, bigint>()
  for (const entry of entries) {
    const known = stored.get(entry.id)
    if (known !== undefined && hasTime(entry, known)) kept.set(entry.id, microsOf(known.at))
  }
  const moving = entries.filter(({ id }) => !kept.has(id))
  const times = await freeTimes(
    tx,
    orgId,
    moving.map(({ at }) => at),
    new Set(kept.values()),
  )
  const placed = new Map(moving.map(({ id }, position) => [id, times[position]]))
  const rows = entries.map((entry) => {
    const { index, ...row } = entry
    const at = kept.get(entry.id) ?? placed.get(entry.id) ?? entry.at
    if (at > LAST_MICROS) {
      throw validationError({
        field: `records[${index}].created_at`,
        message: 'leaves no free microsecond behind it',
      })
    }
    return { ...row, at, givenAt: givenTime(entry, stored.get(entry.id), at) }
  })
  await insertRows(tx, orgId, rows, { imported: true })
}

/** The time the entry was first given, where it stands elsewhere. */
function givenTime(entry: Entry, stored: StoredEntry | undefined, at: bigint): bigint | null {
  if (entry.at !== at) return entry.at
  return stored?.given_at == null || timestampOf(at) !== stored.at ? null : microsOf(stored.given_at)
}

/** Places `wanted` among the stored times and `reserved` ones: asks only for those near what is wanted. */
async function freeTimes(
  tx: ISql,
  orgId: string,
  wanted: readonly bigint[],
  reserved: ReadonlySet<bigint>,
): Promise<bigint[]> {
  const taken = new Set(reserved)
  for (let width = FIRST_WINDOW; ; width *= 4n) {
    const placed = placeTimes(wanted, taken)
    const conflicts = await findTimes(tx, orgId, placed)
    if (conflicts.length === 0) return placed
    for (const at of await findTimesIn(tx, orgId, windowsOf(conflicts, width))) taken.add(at)
  }
}

/** Ranges from each of `times` (ascending) to `width` beyond it, those that meet made one; ends are exclusive. */
function windowsOf(times: readonly bigint[], width: bigint): { from: bigint; to: bigint }[] {
  const windows: { from: bigint; to: bigint }[] = []
  for (const at of times) {
    const last = windows.at(-1)
    if (last !== undefined && at <= last.to) last.to = at + width
    else windows.push({ from: at, to: at + width })
  }
  return windows
}

async function findTimes(tx: ISql, orgId: string, times: readonly bigint[]): Promise<bigint[]> {
  const rows = await tx<{ at: string }[]>`
    select to_char(l.created_at at time zone 'UTC', ${TIME_US}) as at
    from audit_log l
    where l.org_id = ${orgId}
      and l.created_at = any(${times.filter((at) => at <= LAST_MICROS).map(timestampOf)}::timestamptz[])
    order by l.created_at`
  return rows.map((row) => microsOf(row.at))
}

async function findTimesIn(
  tx: ISql,
  orgId: string,
  windows: readonly { from: bigint; to: bigint }[],
): Promise<bigint[]> {
  const end = (at: bigint) => timestampOf(at > LAST_MICROS ? LAST_MICROS : at)
  const rows = await tx<{ at: string }[]>`
    select to_char(l.created_at at time zone 'UTC', ${TIME_US}) as at
    from unnest(
      ${windows.map(({ from }) => timestampOf(from))}::timestamptz[],
      ${windows.map(({ to }) => end(to))}::timestamptz[]
    ) as w (since, until)
    cross join lateral (
      select l.created_at
      from audit_log l
      where l.org_id = ${orgId}
        and l.created_at >= w.since
        and l.created_at <= w.until
    ) l`
  return rows.map((row) => microsOf(row.at))
}
