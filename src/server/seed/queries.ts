import type { ISql, Sql } from '../../database/client.ts'

const GROWN = {
  sessions:
    'sessions, session_details, session_rollups, session_usage, session_tickets, ticket_rollups, usage_rollups, branch_rollups, session_hours, findings, finding_rollups, file_rollups, file_risks',
  audit: 'audit_log, audit_rollups',
  commits: 'commits, commit_files, files, file_authors, expertise_domains, expertise_authors',
  risks: 'pr_risks, pr_commits, pr_sessions, risk_rollups',
}

/** Vacuums and analyzes the tables, so that the first queries are as fast as later ones. */
export async function refreshStatistics(sql: Sql, of: keyof typeof GROWN): Promise<void> {
  await sql.unsafe(`vacuum analyze ${GROWN[of]}`)
}

const SEED_ACTIONS = [
  'session.synced',
  'session.synced',
  'session.synced',
  'webhook.updated',
  'webhook.created',
  'api_key.created',
  'api_key.revoked',
  'member.updated',
  'user.login',
] as const

/**
 * Inserts the plan's audit entries with numbers from `start` to below `end`, without rollups. A hash of seed
 * and number chooses user and action. The last three digits of a time are the seed's, so that the times of
 * two seeds differ.
 */
export async function insertSeedEntries(
  tx: ISql,
  orgId: string,
  plan: { audit: number; days: number; seed: number; today: string },
  { start, end }: { start: number; end: number },
): Promise<void> {
  await tx`
    insert into audit_log (org_id, created_at, id, action, user_id, details, ip_address, recorded_at)
    select
      ${orgId},
      (${plan.today}::date - ${plan.days}::integer)::timestamp at time zone 'UTC'
        + (floor(n::float8 / ${plan.audit} * ${plan.days}::float8 * 86400000) * 1000 + ${plan.seed % 1000}::float8)
          * interval '1 microsecond',
      'log_seed' || ${plan.seed}::bigint || '_' || n,
      (${SEED_ACTIONS}::text[])[1 + h.hash % ${SEED_ACTIONS.length}::integer],
      'user_seed' || 1 + h.hash / 16 % 25,
      json_build_object('ids', json_build_array('sess_seed' || ${plan.seed}::bigint || '_' || n)),
      '203.0.113.' || h.hash / 1024 % 256,
      now()
    from generate_series(${start}::bigint, ${end - 1}::bigint) n
    cross join lateral (
      select ('x' || substr(md5(${plan.seed}::bigint || ':' || n), 1, 7))::bit(28)::integer as hash
    ) h`
}

/**
 * Updates the statistics of sessions within the transaction that copied them. Without them PostgreSQL joined a million
 * sessions of a new organization to their details by org_id alone, for more than half an hour.
 */
export async function analyzeSessions(tx: ISql): Promise<void> {
  await tx`analyze sessions, session_details, session_usage`
}

/** Does the same for pull requests: the second batch is compared with what is stored. */
export async function analyzeRisks(tx: ISql): Promise<void> {
  await tx`analyze pr_risks, pr_commits`
}
