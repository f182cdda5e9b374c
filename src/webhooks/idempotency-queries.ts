import type { ISql, Sql } from '../db/client.ts'

/** How long an answer is given again. */
const KEPT = '24 hours'

/** The answer to the first request with an Idempotency-Key. */
export interface KeptAnswer {
  /** SHA-256 of that request's body. */
  request_hash: Uint8Array
  /** Encrypted: it holds a signing secret. */
  answer: Uint8Array
}

/** What was answered to `key` within the last 24 hours, by the database's clock. */
export async function findAnswer(sql: ISql, orgId: string, key: string): Promise<KeptAnswer | undefined> {
  const [row] = await sql<KeptAnswer[]>`
    select k.request_hash, k.answer
    from webhook_idempotency_keys k
    where k.org_id = ${orgId}
      and k.key = ${key}
      and k.created_at > now() - ${KEPT}::interval`
  return row
}

/** Keeps an answer, in place of one that has had its time. */
export async function keepAnswer(
  tx: ISql,
  orgId: string,
  key: string,
  { request_hash, answer }: KeptAnswer,
): Promise<void> {
  await tx`
    insert into webhook_idempotency_keys (org_id, key, request_hash, answer, created_at)
    values (${orgId}, ${key}, ${request_hash}, ${answer}, now())
    on conflict (org_id, key) do update set
      request_hash = excluded.request_hash,
      answer = excluded.answer,
      created_at = excluded.created_at`
}

/** Organizations looked at in one round; the next round goes on. */
const MAX_ORGANIZATIONS = 1_000

/** Deletes answers to an Idempotency-Key that are a day old and are given no more; how many. */
export async function deleteOldIdempotencyKeys(sql: Sql): Promise<number> {
  const organizations = await sql<{ org_id: string }[]>`
    select distinct k.org_id
    from webhook_idempotency_keys k
    where k.created_at <= now() - interval '24 hours'
    limit ${MAX_ORGANIZATIONS}`
  let deleted = 0
  for (const { org_id } of organizations) {
    const result = await sql`
      delete from webhook_idempotency_keys k
      where k.org_id = ${org_id}
        and k.created_at <= now() - interval '24 hours'`
    deleted += result.count
  }
  return deleted
}
