// Reads stored sessions with which those that are sent are compared.

import type { Origin } from '../../analysis/records/session.ts'
import type { ISql } from '../../database/client.ts'
import { type SessionRow, storedColumns } from '../usage/write.ts'
import type { StoredFinding } from './model.ts'
import type { StoredScore } from './store-write.ts'

/** A session as it is stored, as far as its writer compares with it. */
export interface StoredSession extends SessionRow, StoredDetail {
  hash: Uint8Array
}

interface StoredDetail extends Pick<StoredScore, 'previous_score' | 'scored_at'> {
  files: string[] | null
  origin: Origin | null
  /** Its findings that somebody decided about. */
  decided: StoredFinding[] | null
  /** Fingerprints of its findings that cause alerts. */
  alerts: string[] | null
}

export async function findStored(tx: ISql, orgId: string, ids: readonly string[]) {
  // the detail by a subquery: where the statistics do not know the organization yet, a join on (org_id, session_id) was
  // planned by org_id alone, and comparing 10,000 of 20,000 sessions took a minute
  const rows = await tx<(Omit<StoredSession, keyof StoredDetail> & { detail: StoredDetail })[]>`
    select
      ${storedColumns(tx)},
      s.content_hash as hash,
      (
        select row_to_json(r)
        from session_details d
        cross join lateral (
          select
            (t.quality_metadata->>'previous_score')::float8 as previous_score,
            t.quality_metadata->>'scored_at' as scored_at,
            t.files_touched as files,
            t.origin,
            f.decided,
            f.alerts
          -- each -> would read the detail again, which may have a megabyte
          from json_to_record(d.detail) as t (
            quality_metadata json, files_touched json, origin text, security_metadata json
          )
          cross join lateral (
            select
              json_agg(j.finding) filter (
                where j.finding->>'status' <> 'open' or j.finding->>'assignee' is not null or j.finding->>'note' is not null
              ) as decided,
              json_agg(j.finding->>'fingerprint') filter (where j.finding->>'severity' in ('critical', 'high')) as alerts
            from json_array_elements(t.security_metadata->'findings') as j (finding)
          ) f
        ) r
        -- the id itself, so that Citus plans for one node: it refuses json_to_record else
        where d.org_id = ${orgId}
          and d.session_id = s.id
      ) as detail
    from sessions s
    where s.org_id = ${orgId}
      and s.id = any(${[...ids]}::text[])`
  return new Map(rows.map(({ detail, ...row }) => [row.id, { ...row, ...detail }]))
}
