import type { ISql } from '../../database/client.ts'
import type { DerivedTable, OrgId } from '../../database/derived-tables.ts'

/** The counts, computed from the deliveries. */
const fromDeliveries = (sql: ISql, orgId: OrgId) => sql`
  select
    d.endpoint_id,
    (d.created_at at time zone 'UTC')::date as day,
    d.event,
    d.status,
    count(*) as deliveries
  from webhook_deliveries d
  where d.org_id = ${orgId}
  group by 1, 2, 3, 4`

/** The counts of deliveries. Results of deliveries change them without the organization's lock. */
export const DELIVERY_TABLES: readonly DerivedTable[] = [
  {
    name: 'webhook_delivery_counts',
    columns: ['endpoint_id', 'day', 'status', 'event', 'deliveries'],
    query: fromDeliveries,
    count: 'deliveries',
    describe: ({ status, day }) => `deliveries ${status} of ${day}`,
  },
]
