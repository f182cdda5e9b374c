// The signature of a backup: an HMAC-SHA-256 by `secret.key` of the checksum over all frames before it: the header,
// the tables with their columns and rows, and the sums. A checksum alone is no proof: whoever changes the file
// computes it again.

import { createHmac, timingSafeEqual } from 'node:crypto'

/** The origin of a backup, in the words that are printed. */
export type Signature = "signed by this server's key" | 'signed by another key' | 'unsigned'

export const SIGNED: Signature = "signed by this server's key"

/** Other bytes than those of any other use of the key. */
const PURPOSE = 'cloud-analytics backup\n'

/** `digest`: the SHA-256 of all frames. */
export const backupSignature = (key: Uint8Array, digest: Uint8Array): Buffer =>
  createHmac('sha256', key).update(PURPOSE).update(digest).digest()

/** Whether a signature is one by `key`, the key at hand; without one no signature can be. */
export function checkSignature(
  signature: Uint8Array | undefined,
  digest: Uint8Array,
  key: Uint8Array | undefined,
): Signature {
  if (signature === undefined) return 'unsigned'
  if (key === undefined || !timingSafeEqual(signature, backupSignature(key, digest)))
    return 'signed by another key'
  return SIGNED
}
