import type { ISql } from '../db/client.ts'
import { moveSums, type ProjectSums, type Renaming } from '../db/move-sums.ts'

const ROLLUPS: ProjectSums = {
  name: 'usage_rollups',
  key: ['dims', 'grain', 'bucket', 'member', 'agent', 'model'],
  sums: [
    ...['sessions', 'main_sessions', 'turns', 'main_turns', 'cost', 'input', 'output', 'cache_read'],
    ...['cache_creation', 'unpriced_tokens', 'transcript_tokens', 'telemetry_tokens', 'captured_tokens'],
  ],
}

/** Renames the project of what sessions used. Needs the organization's lock. */
export async function renameInUsage(tx: ISql, orgId: string, renaming: Renaming): Promise<void> {
  await tx`
    update session_usage
    set project = ${renaming.to}
    where org_id = ${orgId}
      and project = ${renaming.from}`
  await moveSums(tx, orgId, ROLLUPS, renaming)
}
