import type { ISql } from '../../database/client.ts'

/**
 * Ends the lease of a delivery of which nothing was sent, because this machine had no socket left. It is due
 * again in `delayMs`, and the attempt is not counted.
 */
export async function release(
  sql: ISql,
  orgId: string,
  { deliveryId, attempt }: { deliveryId: string; attempt: number },
  delayMs: number,
): Promise<void> {
  await sql`
    update webhook_queue q
    set
      leased = false,
      attempts = q.attempts - 1,
      due_at = statement_timestamp() + ${delayMs} * interval '1 millisecond'
    where q.org_id = ${orgId}
      and q.delivery_id = ${deliveryId}
      and q.attempts = ${attempt}
      and q.leased`
}
