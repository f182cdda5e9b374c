import { ApiError } from '../../base/errors.ts'
import type { ISql } from '../../database/client.ts'

// The command line names an endpoint or a delivery by its id alone. The keys of all tables begin with the
// organization, so these queries read each organization by its index.

/** The organization that has the endpoint, or deliveries to it when it was deleted. Throws NOT_FOUND. */
export async function getEndpointOwner(sql: ISql, endpointId: string): Promise<string> {
  const [owner] = await sql<{ org_id: string }[]>`
    select o.org_id
    from organizations o
    where exists (
        select
        from webhook_endpoints e
        where e.org_id = o.org_id
          and e.id = ${endpointId}
      )
      or exists (
        select
        from webhook_deliveries d
        where d.org_id = o.org_id
          and d.endpoint_id = ${endpointId}
      )
    limit 1`
  if (owner === undefined) {
    throw new ApiError(
      'NOT_FOUND',
      `there is no webhook endpoint ${JSON.stringify(endpointId)}, and no delivery to one of that id is kept`,
    )
  }
  return owner.org_id
}

/** The organization and the endpoint of a delivery. Throws NOT_FOUND. */
export async function getDeliveryPlace(sql: ISql, deliveryId: string) {
  const [place] = await sql<{ orgId: string; endpointId: string }[]>`
    select d.org_id as "orgId", d.endpoint_id as "endpointId"
    from organizations o
    join webhook_deliveries d on d.org_id = o.org_id
    where d.id = ${deliveryId}
    limit 1`
  if (place === undefined) {
    throw new ApiError('NOT_FOUND', `there is no delivery ${JSON.stringify(deliveryId)}`)
  }
  return place
}
