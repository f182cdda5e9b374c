import type { ISql } from '../db/client.ts'
import type { Origin } from '../records/session.ts'
import type { Finding } from './model.ts'
import type { StoredScore } from './store-write.ts'

/** A session as it is stored, as far as its writer compares with it. */
export interface StoredSession extends StoredScore {
  id: string
  project: string
  turns: number
  cost: string
  unpriced_tokens: string
  transcript_tokens: string
  telemetry_tokens: string
  hash: Uint8Array
  created_at: Date
  user_id: string | null
  user_email: string | null
  files: string[] | null
  origin: Origin | null
  dismissed: Finding[] | null
}

/** These sessions as they are stored, by id. */
export async function findStored(
  tx: ISql,
  orgId: string,
  ids: readonly string[],
): Promise<Map<string, StoredSession>> {
  // the detail by a subquery: where the statistics do not know the organization yet, a join on (org_id, session_id) was
  // planned by org_id alone, and comparing 10,000 of 20,000 sessions took a minute
  const rows = await tx<StoredSession[]>`
    select
      s.id,
      s.project,
      s.turns,
      s.estimated_cost::text as cost,
      s.unpriced_tokens,
      s.transcript_tokens,
      s.telemetry_tokens,
      s.quality_score::text as quality,
      s.content_hash as hash,
      (
        select (d.detail->'quality_metadata'->>'previous_score')::float8
        from session_details d
        where d.org_id = s.org_id
          and d.session_id = s.id
      ) as previous_score,
      s.created_at,
      s.user_id,
      s.user_email,
      (
        select d.detail->'files_touched'
        from session_details d
        where d.org_id = s.org_id
          and d.session_id = s.id
      ) as files,
      (
        select d.detail->>'origin'
        from session_details d
        where d.org_id = s.org_id
          and d.session_id = s.id
      ) as origin,
      (
        select json_agg(f.finding)
        from session_details d
        cross join lateral json_array_elements(d.detail->'security_metadata'->'findings') as f (finding)
        where d.org_id = s.org_id
          and d.session_id = s.id
          -- few have one: searching for the word takes a tenth of the time of parsing the JSON
          and strpos(d.detail::text, '"dismissed"') > 0
          and f.finding->>'status' = 'dismissed'
      ) as dismissed
    from sessions s
    where s.org_id = ${orgId}
      and s.id = any(${[...ids]}::text[])`
  return new Map(rows.map((row) => [row.id, row]))
}

/** Fingerprints of the sessions' findings of high or critical, as they are stored. */
export async function findAlerts(
  tx: ISql,
  orgId: string,
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const rows = await tx<{ id: string; fingerprints: string[] }[]>`
    select
      d.session_id as id,
      array(
        select f.finding->>'fingerprint'
        from json_array_elements(d.detail->'security_metadata'->'findings') as f (finding)
        where f.finding->>'severity' in ('critical', 'high')
      ) as fingerprints
    from session_details d
    where d.org_id = ${orgId}
      and d.session_id = any(${[...ids]}::text[])`
  return new Map(rows.map((row) => [row.id, row.fingerprints]))
}
