// Reads migrations, ticket patterns and coverage for `doctor`.

import type { Sql } from '../../database/client.ts'
import { type AppliedMigration, listApplied } from '../../database/migrate.ts'

/** The migrations that the database has; [] for an empty one. */
export async function appliedMigrations(sql: Sql): Promise<AppliedMigration[]> {
  const [table] = await sql<
    { found: boolean }[]
  >`select to_regclass('schema_migrations') is not null as found`
  return table?.found === true ? await listApplied(sql) : []
}

export const listTicketPatterns = (sql: Sql) => sql<{ slug: string; pattern: string }[]>`
  select o.slug, o.ticket_pattern as pattern
  from organizations o
  where o.ticket_pattern is not null
    and o.deleted_at is null
  order by o.slug`

/** Sums over the organizations that telemetry is sent to: tokens of all four kinds. */
export async function sumCoverage(sql: Sql) {
  const [row] = await sql<
    { organizations: number; transcript: number; telemetry: number; captured: number }[]
  >`
    select
      count(*)::integer as organizations, coalesce(sum(o.transcript), 0)::float8 as transcript,
      coalesce(sum(o.telemetry), 0)::float8 as telemetry, coalesce(sum(o.captured), 0)::float8 as captured
    from (
      select
        r.org_id, sum(r.transcript_tokens) as transcript, sum(r.telemetry_tokens) as telemetry,
        sum(r.captured_tokens) as captured
      from usage_rollups r
      where r.dims = 'agent_model'
        and r.grain = 'month'
      group by r.org_id
      having sum(r.telemetry_tokens) > 0
    ) o`
  return row
}
