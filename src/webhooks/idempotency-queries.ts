import type { ISql, Sql } from '../database/client.ts'

/** A response is repeated for this long. */
const KEPT = '24 hours'

/** The response to the first request with an Idempotency-Key. */
interface StoredResponse {
  /** SHA-256 of that request's body. */
  request_hash: Uint8Array
  /** Encrypted: it contains a signing secret. */
  answer: Uint8Array
}

/** The response stored for `key` in the last 24 hours, by the database's clock. */
export async function findResponse(
  sql: ISql,
  orgId: string,
  key: string,
): Promise<StoredResponse | undefined> {
  const [row] = await sql<StoredResponse[]>`
    select k.request_hash, k.answer
    from webhook_idempotency_keys k
    where k.org_id = ${orgId}
      and k.key = ${key}
      and k.created_at > now() - ${KEPT}::interval`
  return row
}

/** Inserts a response, or replaces an expired one. */
export async function insertResponse(
  tx: ISql,
  orgId: string,
  key: string,
  { request_hash, answer }: StoredResponse,
): Promise<void> {
  await tx`
    insert into webhook_idempotency_keys (org_id, key, request_hash, answer, created_at)
    values (${orgId}, ${key}, ${request_hash}, ${answer}, now())
    on conflict (org_id, key) do update set
      request_hash = excluded.request_hash,
      answer = excluded.answer,
      created_at = excluded.created_at`
}

/** Deletes the organization's responses: the key that opens them is lost. */
export async function deleteIdempotencyKeys(tx: ISql, orgId: string): Promise<void> {
  await tx`
    delete from webhook_idempotency_keys k
    where k.org_id = ${orgId}`
}

/** Organizations in one call; the next call continues. */
const MAX_ORGANIZATIONS = 1_000

/** Deletes responses that are older than 24 hours. Returns how many. */
export async function deleteOldIdempotencyKeys(sql: Sql): Promise<number> {
  const organizations = await sql<{ org_id: string }[]>`
    select distinct k.org_id
    from webhook_idempotency_keys k
    where k.created_at <= now() - ${KEPT}::interval
    limit ${MAX_ORGANIZATIONS}`
  let deleted = 0
  for (const { org_id } of organizations) {
    const result = await sql`
      delete from webhook_idempotency_keys k
      where k.org_id = ${org_id}
        and k.created_at <= now() - ${KEPT}::interval`
    deleted += result.count
  }
  return deleted
}
