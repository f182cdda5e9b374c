// Gives usage, findings and windows of limits to the people whose addresses they were sent with, after members joined,
// changed or left. `keys`: their ids and addresses, also former ones. Needs the organization's lock.

import type { Fragment, ISql } from '../../database/client.ts'
import { memberAddresses, personOf } from '../../database/member-addresses.ts'
import { counting, moveRows, type Renaming } from '../../database/rollups.ts'
import { unnest } from '../../database/rows.ts'
import { USAGE_ROLLUPS } from './rollup.ts'
import { type MemberDay, refreshResumed, sumWindows } from './windows-write.ts'
import { touchWorkOf } from './work-rollup.ts'

/** Sessions of one statement: some seconds at most. */
const BATCH = 5_000

const ROLLUPS = USAGE_ROLLUPS.filter(({ key }) => key.includes('member'))
const TABLES = ['session_usage', 'session_facets', 'findings']

export async function updatePersons(tx: ISql, orgId: string, keys: readonly string[]): Promise<void> {
  const moved = await moveKeys(tx, orgId, keys)
  const others = await moveSessions(tx, orgId, keys)
  await touchWorkOf(tx, orgId, [...moved, ...others])
  const windows = await tx<MemberDay[]>`
    update limit_windows w
    set member = ${personOf(tx, orgId, tx`w.owner`)}
    where w.org_id = ${orgId}
      and w.member = any(${[...keys]}::text[])
    returning w.member, w.day`
  await sumWindows(tx, orgId, windows, keys)
  await refreshResumed(tx, orgId, { keys })
}

/** Sessions `p` of these people: whose they are stored as, `before`, and whose they are. */
const personRows = (tx: ISql, orgId: string, keys: readonly string[]): Fragment => tx`
  (
    with addresses as materialized (
      select a.id, a.address
      from ${memberAddresses(tx, orgId)} a
    )
    select u.session_id, u.member as before, coalesce(s.user_id, a.id, s.user_email) as member
    from session_usage u
    join sessions s
      on s.org_id = ${orgId}
      and s.id = u.session_id
    left join addresses a on a.address = s.user_email
    where u.org_id = ${orgId}
      and u.member = any(${[...keys]}::text[])
      and u.is_main
  ) p`

/** Moves what has a key of which all is another person's by now, without counting it; returns to whom. */
async function moveKeys(tx: ISql, orgId: string, keys: readonly string[]): Promise<string[]> {
  const changes = await tx<Renaming[]>`
    select p.before as from, min(p.member) as to
    from ${personRows(tx, orgId, keys)}
    group by p.before
    having min(p.member) = max(p.member)
      and min(p.member) <> p.before`
  // a key that is moved away gets nothing here: its rows are deleted
  const left = new Set(changes.map(({ from }) => from))
  const renamings = changes.filter(({ to }) => !left.has(to))
  if (renamings.length === 0) return []
  for (const table of TABLES) {
    await tx`
      update ${tx(table)} t
      set member = n.new
      from ${unnest(tx, renamings, { old: ['text', ({ from }) => from], new: ['text', ({ to }) => to] })}
      where t.org_id = ${orgId}
        and t.member = n.old`
  }
  for (const each of ROLLUPS) await moveRows(tx, orgId, each, 'member', renamings)
  return renamings.map(({ to }) => to)
}

/** Moves sessions of which others with their key stay; returns to whom. */
async function moveSessions(tx: ISql, orgId: string, keys: readonly string[]): Promise<string[]> {
  const rows = await tx<{ session_id: string; member: string }[]>`
    select p.session_id, p.member
    from ${personRows(tx, orgId, keys)}
    where p.member <> p.before`
  for (let start = 0; start < rows.length; start += BATCH) {
    const some = rows.slice(start, start + BATCH)
    const of = tx`s.session_id = any(${some.map(({ session_id }) => session_id)}::text[])`
    await counting(tx, orgId, ROLLUPS, { before: of, after: of }, async () => {
      for (const table of TABLES) {
        await tx`
          update ${tx(table)} t
          set member = n.member
          from ${unnest(tx, some, { session_id: 'text', member: 'text' })}
          where t.org_id = ${orgId}
            and t.session_id = n.session_id`
      }
    })
  }
  return rows.map(({ member }) => member)
}
