// Gives endpoints new signing secrets where the key that the former ones are encrypted with is lost.

import { type Actor, recordEntry } from '../accounts/audit-log/append.ts'
import type { Organization } from '../accounts/organizations/model.ts'
import { OperatorError } from '../base/errors.ts'
import type { Sql } from '../database/client.ts'
import { lockOrganization } from '../database/org-lock.ts'
import { listEndpoints, replaceSecret } from './endpoint-queries.ts'
import { makeSecret, shownUrl } from './endpoints.ts'
import { deleteIdempotencyKeys } from './idempotency-queries.ts'
import { isAnyConnected } from './outbox/state.ts'
import type { SecretBox } from './signing/secret-box.ts'
import { replaceSecretKey } from './signing/secret-key-queries.ts'
import { clearGithubSecret, findUnreadable, nameOfOwner } from './stored-secret-queries.ts'

interface NewSecretsDeps {
  sql: Sql
  /** Encrypts the secrets with the key that is used from now on. */
  box: SecretBox
  actor: Actor
  /** Called at the end of the transaction: keeps the key, without which the new secrets are lost too. */
  saveKey: () => void
}

/**
 * Gives each endpoint of these organizations, which are `all` or one, a new secret, without a grace period: the key of the
 * former ones is lost. Removes secrets of GitHub's webhook that the key does not open, and names them (`lost`) with the alerts and
 * digests whose addresses it does not open. One transaction, so that none is given without being returned. Throws OperatorError when other
 * organizations need new ones too, and when the key is another one and a server runs.
 */
export async function giveNewSecrets(
  { sql, box, actor, saveKey }: NewSecretsDeps,
  organizations: readonly Organization[],
  all: boolean,
) {
  return await sql.begin(async (tx) => {
    // the order is that of everyone who stores a secret, and the locks come before the key
    for (const id of organizations.map(({ id }) => id).toSorted()) await lockOrganization(tx, id)
    const isNewKey = await replaceSecretKey(tx, box.digest, all ? null : (organizations[0]?.id ?? null))
    if (isNewKey && (await isAnyConnected(tx)))
      throw new OperatorError(
        'a server runs on this database, and the key at hand is not its key: stop the servers first, they keep the former key',
      )
    const secrets: Record<'org' | 'id' | 'url' | 'secret', string>[] = []
    const lost: string[] = []
    for (const { id: orgId, slug } of organizations) {
      await deleteIdempotencyKeys(tx, orgId)
      for (const { id, url } of await listEndpoints(tx, orgId)) {
        const { secret, stored } = makeSecret(box, orgId, id)
        await replaceSecret(tx, orgId, id, stored, 0)
        const details = { ids: [id], url: shownUrl(url), grace_period_seconds: 0 }
        await recordEntry(tx, orgId, actor, 'webhook.secret_rotated', details)
        secrets.push({ org: slug, id, url, secret })
      }
      for (const unreadable of (await findUnreadable(tx, box, orgId)).unreadable) {
        const name = nameOfOwner(unreadable)
        if (unreadable.kind !== 'github_secret') {
          lost.push(`${name}: its addresses of Slack and Teams cannot be opened, give them again`)
          continue
        }
        await clearGithubSecret(tx, orgId)
        const details = { ids: [orgId], github_secret_set: false }
        await recordEntry(tx, orgId, actor, 'organization.updated', details)
        lost.push(`${name}: it cannot be opened and is removed, set another one here and at GitHub`)
      }
    }
    saveKey()
    return { secrets, lost, isNewKey }
  })
}
