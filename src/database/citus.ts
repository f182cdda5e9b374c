// Says where the rows of each table are in a database of Citus (docs/scaling.md), and distributes new tables over the nodes.

import { OperatorError } from '../base/errors.ts'
import type { ISql } from './client.ts'

/**
 * The place of a table's rows in a cluster of Citus: `distributed` by org_id, all of an organization's rows on one
 * node; `reference`, copied to every node, for what is looked up before the organization is known; `local`, on the
 * coordinator, to which all instances are connected.
 */
type Placement = 'distributed' | 'reference' | 'local'

/** Every table of the schema by name; test/repository/distribution.test.ts fails for one that is missing. */
export const PLACEMENTS = {
  accounts: 'reference',
  api_keys: 'reference',
  audit_log: 'distributed',
  audit_rollups: 'distributed',
  branch_rollups: 'distributed',
  browser_sessions: 'reference',
  budget_alerts: 'distributed',
  budgets: 'distributed',
  commit_ai: 'distributed',
  commit_files: 'distributed',
  commit_rollups: 'distributed',
  commits: 'distributed',
  deleted_sessions: 'distributed',
  device_requests: 'reference',
  effect_reports: 'distributed',
  effects: 'distributed',
  expertise_authors: 'distributed',
  expertise_domains: 'distributed',
  facet_rollups: 'distributed',
  file_authors: 'distributed',
  file_risks: 'distributed',
  file_rollups: 'distributed',
  files: 'distributed',
  finding_rollups: 'distributed',
  findings: 'distributed',
  invitations: 'reference',
  limit_days: 'distributed',
  limit_windows: 'distributed',
  machines: 'distributed',
  member_aliases: 'distributed',
  members: 'distributed',
  notes: 'distributed',
  notification_rules: 'distributed',
  org_locks: 'distributed',
  organizations: 'reference',
  outcome_rollups: 'distributed',
  plans: 'distributed',
  pr_commits: 'distributed',
  pr_events: 'distributed',
  pr_risks: 'distributed',
  pr_sessions: 'distributed',
  price_rollups: 'distributed',
  // rows are not logged, and leased by every instance many times a minute: a second node would only be a detour
  rate_windows: 'local',
  reports: 'distributed',
  retention_settings: 'local',
  risk_levels: 'distributed',
  risk_rollups: 'distributed',
  schema_migrations: 'local',
  secret_key_check: 'local',
  session_details: 'distributed',
  session_directories: 'distributed',
  session_facets: 'distributed',
  session_hours: 'distributed',
  session_includes: 'distributed',
  session_links: 'distributed',
  session_rollups: 'distributed',
  session_tickets: 'distributed',
  session_usage: 'distributed',
  sessions: 'distributed',
  // local for the same reason as rate_windows
  sign_in_tries: 'local',
  telemetry_inbox: 'distributed',
  ticket_rollups: 'distributed',
  ticket_waiting: 'distributed',
  trait_rollups: 'distributed',
  usage_rollups: 'distributed',
  usage_walks: 'distributed',
  webhook_attempts: 'distributed',
  webhook_claims: 'distributed',
  webhook_deliveries: 'distributed',
  webhook_delivery_counts: 'distributed',
  webhook_endpoints: 'distributed',
  webhook_events: 'distributed',
  webhook_health: 'distributed',
  webhook_idempotency_keys: 'distributed',
  webhook_queue: 'distributed',
  work_rollups: 'distributed',
  work_weeks: 'distributed',
} as const satisfies Record<string, Placement>

/** The table that all others are colocated with: the rows of an organization are on one node. */
const ANCHOR = 'org_locks'

/** A table, where its rows are and where they should be; `other`: distributed, but not as this program needs it. */
interface Placed {
  name: string
  found: Placement | 'other'
  wanted: Placement
}

export async function hasCitus(sql: ISql): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (select from pg_extension e where e.extname = 'citus') as found`
  return row?.found === true
}

/** One plan for each statement in the rest of the transaction, but with Citus, which needs to know the organization. */
export async function useGenericPlans(tx: ISql): Promise<void> {
  await tx`
    select set_config('plan_cache_mode', 'force_generic_plan', true)
    where not exists (select from pg_extension e where e.extname = 'citus')`
}

/** Every table of `PLACEMENTS` that exists, by name. Only for a database with Citus. */
async function findPlacements(sql: ISql): Promise<Placed[]> {
  const rows = await sql<{ name: string; found: Placed['found'] }[]>`
    select
      c.relname as name,
      case
        when p.logicalrelid is null then 'local'
        when p.partmethod = 'n' and p.repmodel = 't' then 'reference'
        when p.partmethod = 'h'
          and column_to_column_name(p.logicalrelid, p.partkey) = 'org_id'
          and p.colocationid = (
            select a.colocationid
            from pg_dist_partition a
            where a.logicalrelid = to_regclass(${ANCHOR})
          )
        then 'distributed'
        else 'other'
      end as found
    from pg_class c
    left join pg_dist_partition p on p.logicalrelid = c.oid
    where c.relnamespace = current_schema()::regnamespace
      and c.relname = any(${Object.keys(PLACEMENTS)}::text[])
    order by c.relname collate "C"`
  const wantedOf = new Map<string, Placement>(Object.entries(PLACEMENTS))
  return rows.flatMap((row) => {
    const wanted = wantedOf.get(row.name)
    return wanted === undefined ? [] : [{ ...row, wanted }]
  })
}

const describe = ({ name, found, wanted }: Placed): string => {
  if (found === 'local') return name
  return found === 'other' ? `${name} (by another column or apart)` : `${name} (${found}, not ${wanted})`
}

/** The tables that are not distributed as they should be, described, by name; undefined without Citus. */
export async function findMisplaced(sql: ISql): Promise<string[] | undefined> {
  if (!(await hasCitus(sql))) return undefined
  const placed = await findPlacements(sql)
  return placed.filter(({ found, wanted }) => found !== wanted).map(describe)
}

/** Whether `distributeTables` was run on the database: the tables of later migrations are then distributed too. */
export async function isDistributed(sql: ISql): Promise<boolean> {
  return (await hasCitus(sql)) && (await findPlacements(sql)).some(({ found }) => found !== 'local')
}

/** Changes one shard after the other in the rest of the transaction: parallel ones do not see each other's changes. */
export async function useOneConnection(tx: ISql): Promise<void> {
  await tx`set local citus.multi_shard_modify_mode to 'sequential'`
}

/** A statement, with what may have a semicolon inside: comments, strings, bodies of functions. */
const STATEMENT = /(?:--[^\n]*|'[^']*'|\$\$[\s\S]*?\$\$|[^;])+;/g

/** `alter table` with a line for each change. */
const CHANGES = /^(alter table \w+)\n([^;]+);$/m

/** Citus does not support this; the statements of WRITE_DAY take its place. */
const DAY_IS_WRITTEN = 'alter table sessions alter column day drop expression;'
const WRITE_DAY = `
  alter table sessions add column written date;
  update sessions set written = day;
  alter table sessions drop column day;
  alter table sessions rename column written to day;
  alter table sessions alter column day set not null;
  create index sessions_by_time on sessions (org_id, created_at, id) include (day);
  create index sessions_by_project_time on sessions (org_id, project, created_at, id) include (day);`

/**
 * The statements of a migration: Citus refuses a message of several ("cannot insert multiple commands into …"), and a constraint
 * beside other changes of a table.
 */
export const statementsOf = (text: string): string[] =>
  (text.replace(DAY_IS_WRITTEN, WRITE_DAY).match(STATEMENT) ?? []).flatMap((statement) => {
    const [, table, changes] = CHANGES.exec(statement) ?? []
    return changes?.split(/,\n/).map((change) => `${table} ${change};`) ?? [statement]
  })

/**
 * Distributes the tables, with their rows, and the aggregates that are still on the coordinator alone; nobody else can write
 * until the end of the transaction. Throws OperatorError when a table is distributed in another way. `changed` is false where
 * a table was so before.
 */
export async function distributeTables(tx: ISql) {
  await useOneConnection(tx)
  const placed = await findPlacements(tx)
  const wrong = placed.filter(({ found, wanted }) => found !== wanted && found !== 'local')
  if (wrong.length > 0) {
    throw new OperatorError(
      `distributed in another way than this program needs: ${wrong.map(describe).join(', ')}; undo it by ` +
        'undistribute_table and run `migrate --citus` again',
    )
  }
  const isAnchor = ({ name }: Placed) => name === ANCHOR
  for (const table of [...placed.filter(isAnchor), ...placed.filter((each) => !isAnchor(each))]) {
    if (table.found !== table.wanted) await distributeTable(tx, table)
  }
  // Aggregates that were made before the extension: statements call them on the nodes
  await tx`
    select create_distributed_function(p.oid::regprocedure)
    from pg_proc p
    where p.pronamespace = current_schema()::regnamespace
      and p.prokind = 'a'
      and not exists (select from pg_dist_object o where o.classid = 'pg_proc'::regclass and o.objid = p.oid)`
  return placed.map(({ name, found, wanted }) => ({ name, placement: wanted, changed: found !== wanted }))
}

export type DistributedTable = Awaited<ReturnType<typeof distributeTables>>[number]

async function distributeTable(tx: ISql, { name, wanted }: Placed): Promise<void> {
  if (wanted === 'reference') {
    await tx`select create_reference_table(${name}::text::regclass)`
    return
  }
  const group = name === ANCHOR ? 'none' : ANCHOR
  await tx`select create_distributed_table(${name}::text::regclass, 'org_id', colocate_with => ${group})`
  // the rows were copied to the nodes; those that they were copied from are still on disk, where no statement sees them
  await tx`select truncate_local_data_after_distributing_table(${name}::text::regclass)`
}
