import type { ISql } from '../../database/client.ts'

/** Channel of NOTIFY; the payload is an organization's id. */
export const CHANNEL = 'cloud_analytics_webhooks'

/** Notifies the workers of all instances, when the transaction is committed, that deliveries may be due. */
export async function wakeWorker(tx: ISql, orgId: string): Promise<void> {
  await tx`
    select pg_notify(${CHANNEL}, ${orgId})`
}
