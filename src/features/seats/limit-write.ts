// Stores the windows of limits that agents observed, joined with those that are stored.

import { findZone } from '../../accounts/organizations/zone-queries.ts'
import type { SentRecord } from '../../analysis/records/records.ts'
import { dayOf } from '../../base/dates.ts'
import type { Fragment, ISql } from '../../database/client.ts'
import { unnest } from '../../database/rows.ts'
import { findFirstKeptDay } from '../sessions/deleted-queries.ts'
import { findMemberIds } from '../usage/member-queries.ts'
import { type MemberDay, refreshResumed, sumWindows } from '../usage/windows-write.ts'
import { folded, reachOf, type Window, windowKey, windowsOf } from './windows.ts'

const iso = (ms: number): string => new Date(ms).toISOString()
const isoOrNull = (ms: number | null): string | null => (ms === null ? null : iso(ms))

/**
 * Folds the batch's limits into the windows that are stored, a row for each. Windows of days that the organization does not keep
 * are left out. Needs the organization's lock.
 */
export async function writeLimits(tx: ISql, orgId: string, sent: readonly SentRecord<'limit'>[], now: Date) {
  const seen = sent.map(({ record }) => windowsOf(record))
  const firstDay = await findFirstKeptDay(tx, orgId, now)
  const firstMs = firstDay === undefined ? Number.NEGATIVE_INFINITY : Date.parse(firstDay)
  const stored = await findNear(tx, orgId, seen.flat())
  const byKey = Map.groupBy(stored, windowKey)
  const counts = { created: 0, updated: 0, unchanged: 0 }
  for (const windows of seen) {
    const results = windows
      .filter(({ last_at }) => last_at >= firstMs)
      .map((window) => {
        const key = windowKey(window)
        const { windows: after, result } = folded(byKey.get(key) ?? [], window)
        byKey.set(key, after)
        return result
      })
    const result = (['created', 'updated'] as const).find((each) => results.includes(each)) ?? 'unchanged'
    counts[result] += 1
  }
  const after = new Set([...byKey.values()].flat())
  const before = new Set(stored)
  const changed = [...after].filter((each) => !before.has(each))
  const replaced = stored.filter((each) => !after.has(each))
  const deleted = await deleteWindows(tx, orgId, replaced)
  const inserted = await insertWindows(tx, orgId, changed)
  const keys = new Set(changed.flatMap(({ hit_at, member }) => (hit_at === null ? [] : [member])))
  await refreshResumed(tx, orgId, { keys: [...keys] })
  await sumWindows(tx, orgId, [...deleted, ...inserted])
  return { ...counts, createdIds: [], updatedIds: [] }
}

/** The stored windows that these observations may be of. */
async function findNear(tx: ISql, orgId: string, windows: readonly Window[]): Promise<Window[]> {
  const rows = await tx<Window[]>`
    select distinct ${windowColumns(tx)}
    from ${unnest(tx, windows, {
      owner: 'text',
      vendor: 'text',
      limit_name: 'text',
      scope: 'text',
      resets: 'boolean',
      low: ['timestamptz', (window) => iso(window.starts - reachOf(window))],
      high: ['timestamptz', (window) => iso(window.starts + reachOf(window))],
    })}
    join limit_windows w
      on w.org_id = ${orgId}
      and w.owner = n.owner
      and w.vendor = n.vendor
      and w.limit_name = n.limit_name
      and w.scope = n.scope
      and w.resets = n.resets
      and w.starts <= n.high
      and w.ends >= n.low`
  return [...rows]
}

const millisOf = (column: string) => `(extract(epoch from w.${column}) * 1000)::float8 as ${column}`

/** The columns of a `Window` of windows `w`. */
export const windowColumns = (sql: ISql): Fragment =>
  sql.unsafe(
    [
      ...['owner', 'vendor', 'limit_name', 'scope', 'resets', 'account', 'agent', 'plan', 'overage'].map(
        (column) => `w.${column}`,
      ),
      // the address that it was sent with
      `case when w.member = '' then '' else w.owner end as member`,
      ...['last_percent', 'peak_percent'].map((column) => `w.${column}::float8 as ${column}`),
      ...['starts', 'ends', 'first_at', 'last_at', 'hit_at'].map(millisOf),
    ].join(', '),
  )

async function deleteWindows(tx: ISql, orgId: string, windows: readonly Window[]): Promise<MemberDay[]> {
  if (windows.length === 0) return []
  return await tx<MemberDay[]>`
    delete from limit_windows w
    using ${unnest(tx, windows, {
      owner: 'text',
      vendor: 'text',
      limit_name: 'text',
      scope: 'text',
      resets: 'boolean',
      starts: ['timestamptz', ({ starts }) => iso(starts)],
    })}
    where w.org_id = ${orgId}
      and w.owner = n.owner
      and w.vendor = n.vendor
      and w.limit_name = n.limit_name
      and w.scope = n.scope
      and w.resets = n.resets
      and w.starts = n.starts
    returning w.member, w.day`
}

async function insertWindows(tx: ISql, orgId: string, windows: readonly Window[]): Promise<MemberDay[]> {
  if (windows.length === 0) return []
  const zone = await findZone(tx, orgId)
  const ids = await findMemberIds(tx, orgId, [...new Set(windows.map(({ member }) => member))])
  return await tx<MemberDay[]>`
    insert into limit_windows (
      org_id, owner, vendor, limit_name, scope, resets, starts, ends, account, member, agent, plan, first_at, last_at,
      last_percent, peak_percent, hit_at, overage, day
    )
    select ${orgId}, n.*
    from ${unnest(tx, windows, {
      owner: 'text',
      vendor: 'text',
      limit_name: 'text',
      scope: 'text',
      resets: 'boolean',
      starts: ['timestamptz', ({ starts }) => iso(starts)],
      ends: ['timestamptz', ({ ends }) => iso(ends)],
      account: 'text',
      member: ['text', ({ member }) => ids.get(member) ?? member],
      agent: 'text',
      plan: 'text',
      first_at: ['timestamptz', ({ first_at }) => iso(first_at)],
      last_at: ['timestamptz', ({ last_at }) => iso(last_at)],
      last_percent: 'numeric',
      peak_percent: 'numeric',
      hit_at: ['timestamptz', ({ hit_at }) => isoOrNull(hit_at)],
      overage: 'boolean',
      day: ['date', ({ hit_at, last_at }) => dayOf(new Date(hit_at ?? last_at), zone)],
    })}
    returning member, day`
}
