import { normalizeTimestamp } from '../dates.ts'
import type { ISql } from '../db/client.ts'
import { validationError } from '../errors.ts'
import { newId } from '../ids.ts'
import type { MemberRecord, Role } from '../records/member.ts'
import type { SyncRecord } from '../records/records.ts'
import type { Tally } from '../records/tally.ts'

interface MemberRow {
  id: string
  email: string
  display_name: string
  role: Role
  joined_at: string
}

export interface MembersWritten extends Tally {
  /** Those that are new. */
  joined: readonly Pick<MemberRow, 'id' | 'email' | 'role'>[]
}

/**
 * Writes the batch's member records. Needs the organization's lock. A member is known by its address, in any case;
 * its id is given once. Throws VALIDATION_ERROR for an id that another address has, or a second id of one address.
 */
export async function writeMembers(
  tx: ISql,
  orgId: string,
  records: readonly SyncRecord[],
): Promise<MembersWritten> {
  const tally = { created: 0, updated: 0, unchanged: 0, joined: [] }
  const members = [...records.entries()].flatMap(([index, record]) =>
    record.type === 'member' ? [{ index, record }] : [],
  )
  if (members.length === 0) return tally
  const known = await findMembers(
    tx,
    orgId,
    members.map(({ record }) => record),
  )
  const before = new Map(known.map((row) => [row.email, row]))
  const byEmail = new Map(before)
  const byId = new Map(known.map((row) => [row.id, row]))
  const changed = new Map<string, MemberRow>()
  for (const { index, record } of members) {
    const row = rowOf(record, byEmail)
    refuseForeignId(record, row, byId, `records[${index}].id`)
    byEmail.set(row.email, row)
    byId.set(row.id, row)
    // twice in one request: only the last counts
    changed.set(row.email, row)
  }
  for (const [email, row] of changed) {
    const stored = before.get(email)
    if (stored !== undefined && sameMember(stored, row)) changed.delete(email)
    else tally[stored === undefined ? 'created' : 'updated'] += 1
  }
  tally.unchanged = members.length - changed.size
  const rows = [...changed.values()]
  await upsertMembers(tx, orgId, rows)
  const joined = rows.filter(({ email }) => !before.has(email))
  return {
    ...tally,
    joined,
    createdIds: joined.map(({ id }) => id),
    updatedIds: rows.flatMap(({ id, email }) => (before.has(email) ? [id] : [])),
  }
}

function rowOf(record: MemberRecord, byEmail: ReadonlyMap<string, MemberRow>): MemberRow {
  const email = record.email.toLowerCase()
  return {
    id: byEmail.get(email)?.id ?? record.id ?? newId('user'),
    email,
    display_name: record.display_name,
    role: record.role,
    joined_at: normalizeTimestamp(record.joined_at),
  }
}

function refuseForeignId(
  record: MemberRecord,
  row: MemberRow,
  byId: ReadonlyMap<string, MemberRow>,
  field: string,
): void {
  if (record.id != null && record.id !== row.id) {
    throw validationError({ field, message: `this address already has the id ${row.id}` })
  }
  const owner = byId.get(row.id)
  if (owner !== undefined && owner.email !== row.email) {
    throw validationError({ field, message: 'another address has this id' })
  }
}

const sameMember = (a: MemberRow, b: MemberRow): boolean =>
  a.display_name === b.display_name && a.role === b.role && a.joined_at === b.joined_at

async function findMembers(tx: ISql, orgId: string, records: readonly MemberRecord[]): Promise<MemberRow[]> {
  const rows = await tx<(Omit<MemberRow, 'joined_at'> & { joined_at: Date })[]>`
    select m.id, m.email, m.display_name, m.role, m.joined_at
    from members m
    where m.org_id = ${orgId}
      and (
        m.email = any(${records.map((record) => record.email.toLowerCase())}::text[])
        or m.id = any(${records.flatMap((record) => record.id ?? [])}::text[])
      )`
  return rows.map((row) => ({ ...row, joined_at: row.joined_at.toISOString() }))
}

async function upsertMembers(tx: ISql, orgId: string, rows: readonly MemberRow[]): Promise<void> {
  if (rows.length === 0) return
  await tx`
    insert into members (org_id, id, email, display_name, role, joined_at)
    select ${orgId}, n.*
    from unnest(
      ${rows.map((row) => row.id)}::text[],
      ${rows.map((row) => row.email)}::text[],
      ${rows.map((row) => row.display_name)}::text[],
      ${rows.map((row) => row.role)}::text[],
      ${rows.map((row) => row.joined_at)}::timestamptz[]
    ) as n
    on conflict (org_id, email) do update set
      display_name = excluded.display_name,
      role = excluded.role,
      joined_at = excluded.joined_at`
}
