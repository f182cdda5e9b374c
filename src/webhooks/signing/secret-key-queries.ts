import type { ISql, Sql } from '../../db/client.ts'
import { OperatorError } from '../../errors.ts'

// The database holds a digest of the key that its secrets are encrypted with.

const OTHER_KEY =
  'the webhook secrets of this database were encrypted with another key: set SECRET_KEY to that one, or restore its secret.key'

/**
 * Stores the digest of this server's key. Throws OperatorError when there are endpoints whose secrets are
 * encrypted with another key; without endpoints the digest is replaced.
 */
export async function checkSecretKey(sql: Sql, digest: Uint8Array): Promise<void> {
  await sql.begin(async (tx) => {
    await insertUnlessThere(tx, digest)
    const [known] = await tx<{ digest: Uint8Array }[]>`
      select k.digest
      from secret_key_check k
      where k.id = 1
      for update`
    if (known !== undefined && Buffer.from(digest).equals(known.digest)) return
    // a statement of its own, after the wait for transactions that insert an endpoint
    const [endpoint] = await tx`
      select e.id
      from webhook_endpoints e
      limit 1`
    if (endpoint !== undefined) throw new OperatorError(OTHER_KEY)
    await tx`
      update secret_key_check
      set digest = ${digest}
      where id = 1`
  })
}

/** Prevents replacement of the key until a transaction that stores a secret ends. Throws if replaced. */
export async function lockSecretKey(tx: ISql, digest: Uint8Array): Promise<void> {
  await insertUnlessThere(tx, digest)
  const [known] = await tx<{ digest: Uint8Array }[]>`
    select k.digest
    from secret_key_check k
    where k.id = 1
    for share`
  if (known === undefined || !Buffer.from(digest).equals(known.digest)) throw new Error(OTHER_KEY)
}

async function insertUnlessThere(tx: ISql, digest: Uint8Array): Promise<void> {
  await tx`
    insert into secret_key_check (id, digest)
    values (1, ${digest})
    on conflict (id) do nothing`
}
