// Writes audit entries that are sent, each at a time that no other has.

import { deleteEntries, insertEntries, type LogRow } from '../../accounts/audit-log/append.ts'
import type { AuditRecord } from '../../analysis/records/audit.ts'
import { findChanges } from '../../analysis/records/changes.ts'
import type { SentRecord } from '../../analysis/records/records.ts'
import { LAST_MICROS, microsOf, TIME_PATTERN_US, timestampOf } from '../../base/dates.ts'
import { fieldError } from '../../base/errors.ts'
import { derivedId } from '../../base/ids.ts'
import type { ISql } from '../../database/client.ts'
import { unnest } from '../../database/rows.ts'

const MAX_DETAILS_LENGTH = 16 * 1024
/** Microseconds that are read from a wanted time on; each further round reads four times as many. */
const FIRST_WINDOW = 1_024n

/** A record as it was sent; `at`: its `created_at`. */
interface Entry extends Omit<LogRow, 'given_at'> {
  prefix: string
}

/** An entry is compared with this: a stored entry, or an earlier one of the request. */
type KnownEntry = Omit<LogRow, 'given_at'> & Partial<Pick<LogRow, 'given_at'>>

interface StoredEntry extends LogRow {
  imported: boolean
}

/**
 * Writes the batch's audit records. Needs the organization's lock. A record whose time another entry has is moved on to the
 * next free microsecond; the same record again is recognized by its id and by the time it was sent with. Throws
 * VALIDATION_ERROR for a record that would change an entry of this service's own, and for details that are too long.
 */
export async function writeAudit(tx: ISql, orgId: string, sent: readonly SentRecord<'audit'>[]) {
  const entries = prepare(sent)
  const stored = await findStored(tx, orgId, [...new Set(entries.map(({ id }) => id))])
  refuseOwnEntries(entries, stored)
  const { rows, ...result } = findChanges<KnownEntry, Entry>(entries, stored, {
    keyOf: ({ id }) => id,
    isSame,
  })
  await store(tx, orgId, rows, stored)
  return result
}

function refuseOwnEntries(entries: readonly Entry[], stored: ReadonlyMap<string, StoredEntry>): void {
  for (const entry of entries) {
    const before = stored.get(entry.id)
    if (before === undefined || before.imported || isSame(entry, before)) continue
    throw fieldError(`${entry.prefix}id`, 'is an entry that this service wrote itself: it cannot be changed')
  }
}

function prepare(sent: readonly SentRecord<'audit'>[]): Entry[] {
  const repeated = new Map<string, number>()
  return sent.map(({ prefix, record }) => {
    const content = entryKey(record)
    if (content.details.length > MAX_DETAILS_LENGTH) {
      const message = `must have at most ${MAX_DETAILS_LENGTH} characters as JSON`
      throw fieldError(`${prefix}details`, message)
    }
    return { prefix, id: record.id ?? idOf(content, repeated), ...content }
  })
}

const entryKey = (record: AuditRecord) => ({
  at: microsOf(record.created_at),
  action: record.action,
  user_id: record.user_id,
  details: JSON.stringify(record.details ?? {}),
  ip_address: record.ip_address || null,
})

/** The id of a record without one: derived from its content and from the number of equal records before it in the batch. */
function idOf(content: ReturnType<typeof entryKey>, repeated: Map<string, number>): string {
  const { at, action, user_id, details, ip_address } = content
  const parts = [timestampOf(at), action, user_id, details, ip_address ?? '']
  const key = JSON.stringify(parts)
  const ordinal = repeated.get(key) ?? 0
  repeated.set(key, ordinal + 1)
  return derivedId('log', ...parts, ordinal)
}

const isSame = (entry: Entry, before: KnownEntry): boolean =>
  entry.action === before.action &&
  entry.user_id === before.user_id &&
  entry.details === before.details &&
  entry.ip_address === before.ip_address &&
  hasSameTime(entry, before)

/** Whether the entry was sent with the time it was sent with before, or with the stored one, as `export` writes it. */
const hasSameTime = (entry: Entry, before: KnownEntry): boolean =>
  entry.at === before.at || entry.at === before.given_at

async function findStored(tx: ISql, orgId: string, ids: string[]): Promise<Map<string, StoredEntry>> {
  const rows = await tx<(Omit<StoredEntry, 'at' | 'given_at'> & { at: string; given_at: string | null })[]>`
    select
      l.id,
      to_char(l.created_at at time zone 'UTC', ${TIME_PATTERN_US}) as at,
      to_char(l.given_at at time zone 'UTC', ${TIME_PATTERN_US}) as given_at,
      l.action,
      l.user_id,
      l.details::text as details,
      l.ip_address,
      l.recorded_at is not null as imported
    from audit_log l
    where l.org_id = ${orgId}
      and l.id = any(${ids}::text[])`
  return new Map(
    rows.map(({ at, given_at, ...row }) => [
      row.id,
      { ...row, at: microsOf(at), given_at: given_at === null ? null : microsOf(given_at) },
    ]),
  )
}

async function store(
  tx: ISql,
  orgId: string,
  entries: readonly Entry[],
  stored: ReadonlyMap<string, StoredEntry>,
): Promise<void> {
  if (entries.length === 0) return
  const replaced = entries.flatMap(({ id }) => (stored.has(id) ? [id] : []))
  await deleteEntries(tx, orgId, replaced)
  // a changed entry with an unchanged time keeps its stored time
  const timesById = new Map<string, bigint>()
  for (const entry of entries) {
    const before = stored.get(entry.id)
    if (before !== undefined && hasSameTime(entry, before)) timesById.set(entry.id, before.at)
  }
  const moving = entries.filter(({ id }) => !timesById.has(id))
  const stamps = moving.map(({ at }) => at)
  const times = await freeTimes(tx, orgId, stamps, new Set(timesById.values()))
  const assigned = new Map(moving.map(({ id }, position) => [id, times[position]]))
  const rows = entries.map((entry) => {
    const { prefix, ...row } = entry
    const at = timesById.get(entry.id) ?? assigned.get(entry.id) ?? entry.at
    if (at > LAST_MICROS) throw fieldError(`${prefix}created_at`, 'leaves no free microsecond behind it')
    return { ...row, at, given_at: givenTime(entry, stored.get(entry.id), at) }
  })
  await insertEntries(tx, orgId, rows, { imported: true })
}

/** The time that the entry was first sent with; null where it is stored with that time. */
function givenTime(entry: Entry, stored: StoredEntry | undefined, at: bigint): bigint | null {
  if (entry.at !== at) return entry.at
  return stored?.at === at ? stored.given_at : null
}

/** A time for each wanted one that is neither stored nor `reserved`. Reads only stored times near those wanted. */
async function freeTimes(tx: ISql, orgId: string, stamps: readonly bigint[], reserved: ReadonlySet<bigint>) {
  for (let width = FIRST_WINDOW; ; width *= 4n) {
    const stored = await findTimes(tx, orgId, windowsOf(stamps, width))
    const times = assignUniqueTimes(stamps, reserved.union(stored))
    if (times.every((at, index) => at <= (stamps[index] ?? at) + width)) return times
  }
}

/** Ranges from each of `times` to `width` after it; those that meet are joined. */
function windowsOf(times: readonly bigint[], width: bigint): { from: bigint; to: bigint }[] {
  const windows: { from: bigint; to: bigint }[] = []
  for (const at of times.toSorted((a, b) => (a < b ? -1 : 1))) {
    const last = windows.at(-1)
    if (last !== undefined && at <= last.to) last.to = at + width
    else windows.push({ from: at, to: at + width })
  }
  return windows
}

async function findTimes(tx: ISql, orgId: string, windows: readonly { from: bigint; to: bigint }[]) {
  const end = (at: bigint) => timestampOf(at > LAST_MICROS ? LAST_MICROS : at)
  const rows = await tx<{ at: string }[]>`
    select to_char(l.created_at at time zone 'UTC', ${TIME_PATTERN_US}) as at
    from ${unnest(tx, windows, {
      since: ['timestamptz', ({ from }) => timestampOf(from)],
      until: ['timestamptz', ({ to }) => end(to)],
    })}
    cross join lateral (
      select l.created_at
      from audit_log l
      where l.org_id = ${orgId}
        and l.created_at >= n.since
        and l.created_at <= n.until
    ) l`
  return new Set(rows.map((row) => microsOf(row.at)))
}

/** A unique time for each wanted one: itself, or the next that is free. Equal times keep their order. */
export function assignUniqueTimes(stamps: readonly bigint[], taken: ReadonlySet<bigint>): bigint[] {
  const assigned = [...stamps]
  const order = stamps.map((at, index) => ({ at, index }))
  order.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.index - b.index))
  let next = 0n
  for (const { at, index } of order) {
    let free = at > next ? at : next
    while (taken.has(free)) free += 1n
    assigned[index] = free
    next = free + 1n
  }
  return assigned
}
