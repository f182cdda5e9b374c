// Encrypts stored secrets with AES-256-GCM, bound to their row, so that they cannot be decrypted in another row. Format:
// version (1 byte), initialization vector (12), ciphertext, tag (16).

import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { memoize } from '../../base/memoize.ts'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const VERSION = 1
const IV_BYTES = 12
const TAG_BYTES = 16
const OVERHEAD_BYTES = 1 + IV_BYTES + TAG_BYTES

/** `key` has 32 bytes. */
export function createSecretBox(key: Uint8Array) {
  if (key.length !== KEY_BYTES) throw new RangeError(`a secret key has ${KEY_BYTES} bytes`)
  return {
    /** Identifies the key without revealing it. */
    digest: createHmac('sha256', key).update('cloud-analytics secret key').digest(),
    /** Encrypts `text` for this `context`. The result is 29 bytes longer than the text in UTF-8. */
    seal(text: string, context: string): Uint8Array {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([Uint8Array.of(VERSION), iv, body, cipher.getAuthTag()])
    },
    /** Decrypts. Throws, without the text in the error, when the key, the context or a bit differs. */
    open(sealed: Uint8Array, context: string): string {
      if (sealed.length < OVERHEAD_BYTES || sealed[0] !== VERSION) throw unreadable()
      const iv = sealed.subarray(1, 1 + IV_BYTES)
      const decipher = createDecipheriv(CIPHER, key, iv, { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(context)).setAuthTag(sealed.subarray(-TAG_BYTES))
      try {
        const body = decipher.update(sealed.subarray(1 + IV_BYTES, -TAG_BYTES))
        return Buffer.concat([body, decipher.final()]).toString()
      } catch {
        throw unreadable()
      }
    },
  }
}

export type SecretBox = ReturnType<typeof createSecretBox>

/** Memoizes `open`: each delivery to an endpoint needs the same secret. */
export function memoizedOpen(box: Pick<SecretBox, 'open'>): Pick<SecretBox, 'open'> {
  const opened = memoize((key) => {
    const end = key.lastIndexOf(' ')
    return box.open(Buffer.from(key.slice(end + 1), 'base64'), key.slice(0, end))
  })
  return { open: (sealed, context) => opened(`${context} ${Buffer.from(sealed).toString('base64')}`) }
}

const unreadable = () => new Error('a secret cannot be decrypted: another key, another place, or damaged')
