// Erases a person from every table that does not follow from others. The same text becomes the same text everywhere, so that
// rows that refer to each other by it still do. Returns how many rows changed, and how many had moved since they were found.

import type { Pricer } from '../../analysis/scoring/prices.ts'
import { sumBy } from '../../base/batches.ts'
import { codeOf, OperatorError } from '../../base/errors.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { lockHistory, lockOrganization } from '../../database/org-lock.ts'
import { deleteFrom } from '../../database/rows.ts'
import type { ReportSummary } from '../../features/audit/model.ts'
import { deleteIdempotencyKeys } from '../../webhooks/idempotency-queries.ts'
import { TABLES } from '../doctor/checks.ts'
import { countingTexts } from './person-rollups.ts'
import {
  inBatchesOfBytes,
  listOrganizationTables,
  mayHave,
  type OrganizationTable,
  type Sized,
} from './queries.ts'
import type { Person, Pseudonym, Traces } from './traces.ts'

export interface Erasure {
  sql: Sql
  orgId: string
  person: Person
  pseudonym: Pseudonym
  traces: Traces
  pricer: () => Promise<Pricer>
}

/** PostgreSQL's code for a key that is there twice. */
const UNIQUE_VIOLATION = '23505'

/** Tables that follow from others, whose writers compute them again, but for the commits that a pull request lists. */
const COMPUTED = new Set([
  ...['sessions', 'session_details', 'session_facets'],
  ...TABLES.flatMap((tables) => tables.map(({ name }) => name)).filter((name) => name !== 'pr_commits'),
])

/** Tables of which answers are kept, encrypted, for requests that are repeated: they hold the rows as they were. */
const ANSWERED = new Set(['webhook_endpoints', 'notification_rules', 'notes'])

/** Columns with the names of people: another person's may be the same. */
const NAMES = new Set(['members.display_name', 'commits.author_name'])

/** Values as texts, arrays as JSON, by column. */
type Row = Record<string, string | null>

export async function eraseInTables(erasure: Erasure) {
  const changed = { audit_entries: 0, others: 0 }
  let moved = 0
  for (const table of await listOrganizationTables(erasure.sql)) {
    if (COMPUTED.has(table.name) || table.texts.length === 0) continue
    const batches = inBatchesOfBytes(await findTraced(erasure, table))
    const rows = await sumBy(batches, async (places) => {
      const batch = await eraseInRows(erasure, table, places)
      moved += batch.moved
      return batch.changed
    })
    if (rows > 0 && ANSWERED.has(table.name)) await deleteIdempotencyKeys(erasure.sql, erasure.orgId)
    changed[table.name === 'audit_log' ? 'audit_entries' : 'others'] += rows
  }
  return { changed, moved }
}

/** Finds the places of rows that may contain something of the person. Nobody waits for it. */
async function findTraced({ sql, orgId, traces }: Erasure, { name, texts }: OrganizationTable) {
  const columns = texts.map((column) => sql`t.${sql(column.name)}::text`)
  const matches = columns.map((column) => mayHave(sql, traces, column))
  return await sql<Sized[]>`
    select t.ctid::text as id, octet_length(concat(${columns.reduce((all, column) => sql`${all}, ${column}`)})) as bytes
    from ${sql(name)} t
    where t.org_id = ${orgId}
      and (${matches.reduce((all, match) => sql`${all} or ${match}`)})
    order by t.ctid`
}

/** Rows that were moved meanwhile, perhaps to another table, are found by the next pass. */
async function eraseInRows(erasure: Erasure, table: OrganizationTable, places: readonly string[]) {
  const { sql, orgId, person } = erasure
  return await sql.begin(async (tx) => {
    await lockHistory(tx, orgId)
    await lockOrganization(tx, orgId)
    const columns = table.texts
      .map(({ name, type }) =>
        type === 'text[]'
          ? tx`to_json(t.${tx(name)})::text as ${tx(name)}`
          : tx`t.${tx(name)}::text as ${tx(name)}`,
      )
      .reduce((all, column) => tx`${all}, ${column}`)
    const rows = await tx<(Row & { place: string })[]>`
      select t.ctid::text as place, ${columns}
      from ${tx(table.name)} t
      where t.org_id = ${orgId}
        and t.ctid = any(${[...places]}::tid[])
      for update`
    const changes = rows.flatMap(({ place, ...before }) => {
      // the member is deleted at the end
      if (table.name === 'members' && before.id === person.memberId) return []
      // the aliases are deleted with their member
      if (table.name === 'member_aliases' && before.member_email === person.email) return []
      // so are their budgets
      if (before.scope === 'member' && before.scope_key === person.memberId) return []
      // and plans
      if (table.name === 'plans' && before.member === person.memberId) return []
      const erased = eraseInRow(erasure.traces, table, before)
      return Object.keys(erased).length === 0
        ? []
        : [{ place, before, erased, after: { ...before, ...erased } }]
    })
    const moved = places.length - rows.length
    if (changes.length === 0) return { changed: 0, moved }
    const texts = changes.flatMap(({ before, after }) => [before, after])
    await countingTexts(tx, orgId, table.name, texts, async () => {
      for (const { place, erased, after } of changes) {
        if (table.name === 'machines') await mergeMachine(tx, orgId, place, after)
        else await updateRow(tx, orgId, table, place, erased)
      }
    })
    return { changed: changes.length, moved }
  })
}

function eraseInRow(traces: Traces, table: OrganizationTable, row: Row): Row {
  const changed: Row = {}
  for (const { name } of table.texts) {
    const before = row[name]
    if (before === null || before === undefined) continue
    const column = `${table.name}.${name}`
    const after = NAMES.has(column) ? traces.eraseAddress(before) : traces.erase(before)
    if (after !== before) changed[name] = column === 'reports.summary' ? sortedSummary(after) : after
  }
  return changed
}

/** Sorts a report's summary as when it is made: one count for each user, by count, then user. */
function sortedSummary(text: string): string {
  const summary = JSON.parse(text) as ReportSummary
  const counts = new Map<string, number>()
  for (const { user_id, count } of summary.by_user) counts.set(user_id, (counts.get(user_id) ?? 0) + count)
  const by_user = [...counts].map(([user_id, count]) => ({ user_id, count }))
  by_user.sort((a, b) => b.count - a.count || (a.user_id < b.user_id ? -1 : 1))
  return JSON.stringify({ ...summary, by_user })
}

async function updateRow(tx: ISql, orgId: string, table: OrganizationTable, place: string, changed: Row) {
  const values = table.texts
    .flatMap(({ name, type }) => {
      const value = changed[name]
      if (value === undefined) return []
      if (type === 'text[]')
        return [tx`${tx(name)} = array(select json_array_elements_text(${value}::text::json))`]
      return [tx`${tx(name)} = ${value}::text::${tx.unsafe(type)}`]
    })
    .reduce((all, value) => tx`${all}, ${value}`)
  try {
    await tx`
      update ${tx(table.name)}
      set ${values}
      where org_id = ${orgId}
        and ctid = ${place}::tid`
  } catch (error) {
    if (codeOf(error) !== UNIQUE_VIOLATION) throw error
    // the detail names the row that exists: it has no trace of the person any more
    const { detail } = error as { detail?: string }
    throw new OperatorError(
      `two rows of the table ${table.name} differ only in how they write the person, and would become one: ${detail} Delete one of them, and run this again`,
    )
  }
}

/** Adds to the row of the pseudonym: the machine may have sent since an earlier pass. */
async function mergeMachine(
  tx: ISql,
  orgId: string,
  place: string,
  { user_key = null, machine = null }: Row,
): Promise<void> {
  await tx`
    insert into machines as k (org_id, user_key, machine, first_seen_at, last_seen_at, sessions)
    select m.org_id, ${user_key}, ${machine}, m.first_seen_at, m.last_seen_at, m.sessions
    from machines m
    where m.org_id = ${orgId}
      and m.ctid = ${place}::tid
    on conflict (org_id, user_key, machine) do update set
      first_seen_at = least(k.first_seen_at, excluded.first_seen_at),
      last_seen_at = greatest(k.last_seen_at, excluded.last_seen_at),
      sessions = k.sessions + excluded.sessions`
  await deleteFrom(tx, orgId, 'machines', tx`and t.ctid = ${place}::tid`)
}
