// Checks that the server's key is that of the database, which holds a digest of it, and replaces it.

import { OperatorError } from '../../base/errors.ts'
import type { Config } from '../../config.ts'
import type { ISql, Sql } from '../../database/client.ts'
import { createSecretBox } from './secret-box.ts'
import { findSecretKey, loadSecretKey } from './secret-key.ts'

const OTHER_KEY =
  'the webhook secrets of this database were encrypted with another key: set SECRET_KEY to that one, or put its secret.key into DATA_DIR; ' +
  'if it is lost, `cloud-analytics webhook new-secrets --all --yes` gives each endpoint a new secret'

/** The key, made when there is none. Throws OperatorError when endpoints' secrets are encrypted with another; then none is made. */
export async function openSecretKey(sql: Sql, config: Pick<Config, 'secretKey' | 'dataDir'>) {
  const currentKey = findSecretKey(config)
  if (currentKey === undefined && (await hasEndpoints(sql))) throw new OperatorError(OTHER_KEY)
  const key = currentKey ?? loadSecretKey(config)
  await checkSecretKey(sql, createSecretBox(key).digest)
  return key
}

/** Stores the digest of the key; without endpoints it is replaced, else OperatorError for another. */
export async function checkSecretKey(sql: Sql, digest: Uint8Array): Promise<void> {
  await sql.begin(async (tx) => {
    if (await isLocked(tx, digest)) return
    // a statement of its own, after the wait for transactions that insert an endpoint
    if (await hasEndpoints(tx)) throw new OperatorError(OTHER_KEY)
    await storeDigest(tx, digest)
  })
}

/** Replaces the digest before secrets are encrypted again, of one organization or (null) all. False for the same key. */
export async function replaceSecretKey(tx: ISql, digest: Uint8Array, orgId: string | null): Promise<boolean> {
  if (await isLocked(tx, digest)) return false
  if (orgId !== null && (await hasEndpoints(tx, orgId)))
    throw new OperatorError(
      'other organizations have endpoints whose secrets were encrypted with another key too: give all of them new secrets by --all',
    )
  await storeDigest(tx, digest)
  return true
}

/** Whether there is an endpoint of any organization, but of this one. */
async function hasEndpoints(sql: ISql, but = ''): Promise<boolean> {
  const [endpoint] = await sql`
    select e.id
    from webhook_endpoints e
    where e.org_id <> ${but}
    limit 1`
  return endpoint !== undefined
}

/** Locks the digest, storing this one if there was none; false where it is another. `update` waits for `share`. */
async function isLocked(tx: ISql, digest: Uint8Array, mode: 'update' | 'share' = 'update'): Promise<boolean> {
  await tx`
    insert into secret_key_check (id, digest)
    values (1, ${digest})
    on conflict (id) do nothing`
  const [row] = await tx<{ digest: Uint8Array }[]>`
    select k.digest
    from secret_key_check k
    where k.id = 1
    for ${tx.unsafe(mode)}`
  return row !== undefined && Buffer.from(digest).equals(row.digest)
}

async function storeDigest(tx: ISql, digest: Uint8Array): Promise<void> {
  await tx`
    update secret_key_check
    set digest = ${digest}
    where id = 1`
}

/** Prevents replacement of the key until a transaction that stores a secret ends. Throws if replaced. */
export async function lockSecretKey(tx: ISql, digest: Uint8Array): Promise<void> {
  if (!(await isLocked(tx, digest, 'share'))) throw new Error(OTHER_KEY)
}
