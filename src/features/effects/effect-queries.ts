// Reads and writes changes that people recorded, and the figures that are kept of changes.

import type { Figures } from '../../analysis/effects/measure-change.ts'
import { findLastChanges } from '../../analysis/records/changes.ts'
import type { SentRecord } from '../../analysis/records/records.ts'
import { ApiError } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'
import type { Renaming } from '../../database/rollups.ts'
import { deleteFrom } from '../../database/rows.ts'
import type { EffectQuery } from './model.ts'

export interface StoredEffect {
  id: string
  source: 'noticed' | 'recorded' | 'assigned'
  /** Null: that of what was noticed. */
  name: string | null
  dismissed: boolean
  kind: string | null
  unit: 'member' | 'repository'
  /** A day of the week in which it changed; of assigned ones the first day. */
  from_day: string | null
  to_day: string | null
  /** Who changed: ids of members; null and none of the others: all. */
  members: string[] | null
  projects: string[] | null
  team: string | null
}

export async function listStoredEffects(sql: ISql, orgId: string): Promise<StoredEffect[]> {
  return await sql<StoredEffect[]>`
    select e.id, e.source, e.name, e.dismissed, e.kind, e.unit, e.from_day::text as from_day, e.to_day::text as to_day,
      e.members, e.projects, e.team
    from effects e
    where e.org_id = ${orgId}
    order by e.id collate "C"`
}

export const noEffect = () => new ApiError('NOT_FOUND', 'no such change')

/** Inserts changes, or replaces those with their ids. Needs the organization's lock. */
export async function putEffects(tx: ISql, orgId: string, rows: readonly StoredEffect[]): Promise<void> {
  for (const { id, source, name, dismissed, kind, unit, from_day, to_day, members, projects, team } of rows) {
    await tx`
      insert into effects (org_id, id, source, name, dismissed, kind, unit, from_day, to_day, members, projects, team)
      values (
        ${orgId}, ${id}, ${source}, ${name}, ${dismissed}, ${kind}, ${unit}, ${from_day}, ${to_day},
        ${members}::text[], ${projects}::text[], ${team}
      )
      on conflict (org_id, id) do update set
        source = excluded.source, name = excluded.name, dismissed = excluded.dismissed, kind = excluded.kind,
        unit = excluded.unit, from_day = excluded.from_day, to_day = excluded.to_day, members = excluded.members,
        projects = excluded.projects, team = excluded.team`
  }
}

/** Writes the batch's records of changes. Needs the organization's lock. */
export async function writeEffects(tx: ISql, orgId: string, sent: readonly SentRecord<'effect'>[]) {
  const effects = sent.map(({ record }): StoredEffect => {
    const { id, source, name = null, dismissed, kind = null, unit, from_day = null, to_day = null } = record
    const { members = null, projects = null, team = null } = record
    return { id, source, name, dismissed, kind, unit, from_day, to_day, members, projects, team }
  })
  const stored = await listStoredEffects(tx, orgId)
  const { rows, ...result } = findLastChanges<StoredEffect, StoredEffect>(
    effects,
    new Map(stored.map((row) => [row.id, { ...row }])),
    { keyOf: ({ id }) => id, isSame: (effect, row) => Bun.deepEquals(effect, row) },
  )
  await putEffects(tx, orgId, rows)
  return result
}

/** Renames a project of changes, and has all measured again: its cells have moved. Needs the organization's lock. */
export async function renameInEffects(tx: ISql, orgId: string, { from, to }: Renaming): Promise<void> {
  await tx`
    update effects e
    set projects = array_replace(e.projects, ${from}, ${to})
    where e.org_id = ${orgId}
      and ${from} = any (e.projects)`
  await deleteFrom(tx, orgId, 'effect_reports')
}

/** Figures that were measured once, of what `basis` is a hash of. */
export interface StoredReport {
  id: string
  basis: string
  figures: Figures
  since: Date
}

export async function readReports(sql: ISql, orgId: string, { weeks, measure }: EffectQuery) {
  const rows = await sql<StoredReport[]>`
    select r.id, r.basis, r.figures, r.since
    from effect_reports r
    where r.org_id = ${orgId}
      and r.weeks = ${Number(weeks)}
      and r.measure = ${measure}`
  return new Map(rows.map((row) => [row.id, row]))
}

/** Keeps figures, with the time since which they have their verdict. */
export async function storeReport(
  sql: ISql,
  orgId: string,
  { weeks, measure }: EffectQuery,
  { id, basis, figures, since }: StoredReport,
): Promise<void> {
  await sql`
    insert into effect_reports (org_id, id, weeks, measure, basis, figures, since)
    values (${orgId}, ${id}, ${Number(weeks)}, ${measure}, ${basis}, ${JSON.stringify(figures)}::text::json, ${since})
    on conflict (org_id, id, weeks, measure) do update set
      basis = excluded.basis, figures = excluded.figures, since = excluded.since`
}

/** The parts of a list of items that are known. */
export const partsOf = (sql: ISql, items: readonly object[]) => ({
  rows: sql`
    select i.item, i.nth
    from unnest(${items.map((item) => JSON.stringify(item))}::text[]) with ordinality as i (item, nth)`,
  ...{ order: sql`r.nth`, item: sql`r.item`, total: sql`select ${items.length}::integer` },
})
