// Finds everything that is stored encrypted with the server's key, and what the key at hand does not open of it.

import type { ISql } from '../database/client.ts'
import { secretContext } from './attempt.ts'
import type { SecretBox } from './signing/secret-box.ts'

type Box = Pick<SecretBox, 'open'>

/** The encryption context of the secret of GitHub's webhook: it cannot be decrypted for another organization. */
export const githubSecretContext = (orgId: string): string => `github secret of ${orgId}`

/** Decrypts; undefined where the key at hand does not open it. */
export function openOrNothing(box: Box | undefined, sealed: Uint8Array, context: string): string | undefined {
  try {
    return box?.open(sealed, context)
  } catch {
    return undefined
  }
}

/** The owner of a stored secret: an endpoint, an alert or digest with its destinations, or GitHub's webhook, without id and name. */
interface SecretOwner {
  orgId: string
  org: string
  kind: 'webhook' | 'alert' | 'digest' | 'github_secret'
  id: string | null
  name: string | null
}

/** Counts the stored secrets of an organization, or of all, and lists the owners, once each, of those that the key does not open. */
export async function findUnreadable(sql: ISql, box: Box | undefined, orgId: string | null = null) {
  const rows = await sql<(SecretOwner & { endpoint: string | null; sealed: Uint8Array })[]>`
    select e.org_id as "orgId", o.slug as org, coalesce(r.kind, 'webhook') as kind, coalesce(r.id, e.id) as id,
      r.definition->>'name' as name, e.id as endpoint, e.secret as sealed
    from webhook_endpoints e
    join organizations o on o.org_id = e.org_id
    left join notification_rules r on r.org_id = e.org_id and r.id = e.owner
    where ${orgId}::text is null
      or e.org_id = ${orgId}
    union all
    select o.org_id, o.slug, 'github_secret', null, null, null, o.github_secret
    from organizations o
    where o.github_secret is not null
      and (${orgId}::text is null or o.org_id = ${orgId})
    order by org, kind, id, endpoint`
  const unreadable = new Map<string, SecretOwner>()
  for (const { endpoint, sealed, ...owner } of rows) {
    const context =
      endpoint === null ? githubSecretContext(owner.orgId) : secretContext(owner.orgId, endpoint)
    if (openOrNothing(box, sealed, context) === undefined) unreadable.set(nameOfOwner(owner), owner)
  }
  return { stored: rows.length, unreadable: [...unreadable.values()] }
}

/** `alert alr_… "Budget" of acme`, `github_secret of acme` */
export const nameOfOwner = ({ org, kind, id, name }: SecretOwner): string =>
  [kind, id, name && JSON.stringify(name), 'of', org].filter(Boolean).join(' ')

/** Removes the secret of GitHub's webhook, whose requests are then refused. Needs the organization's lock. */
export async function clearGithubSecret(tx: ISql, orgId: string): Promise<void> {
  await tx`
    update organizations
    set github_secret = null
    where org_id = ${orgId}`
}
