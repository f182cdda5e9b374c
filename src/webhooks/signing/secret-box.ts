import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { memoize } from '../../memoize.ts'

// How secrets are kept: AES-256-GCM, each bound to where it stands, so that a row's secret is none in another row.
// Form: version (1 byte), initialization vector (12), ciphertext, tag (16).

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const VERSION = 1
const IV_BYTES = 12
const TAG_BYTES = 16
const OVERHEAD_BYTES = 1 + IV_BYTES + TAG_BYTES

export interface SecretBox {
  /** Identifies the key, and says nothing else of it. */
  readonly digest: Uint8Array
  /** Encrypts `text`; only the same `context` opens it. 29 bytes longer than the text in UTF-8. */
  seal(text: string, context: string): Uint8Array
  /** The text that was sealed. Throws, without a word of it, when the key or the context is another, or a bit has changed. */
  open(sealed: Uint8Array, context: string): string
}

/** A box whose key is these 32 bytes. */
export function createSecretBox(key: Uint8Array): SecretBox {
  if (key.length !== KEY_BYTES) throw new RangeError(`a secret key has ${KEY_BYTES} bytes`)
  return {
    digest: createHmac('sha256', key).update('cloud-analytics secret key').digest(),
    seal(text, context) {
      const iv = randomBytes(IV_BYTES)
      const cipher = createCipheriv(CIPHER, key, iv).setAAD(Buffer.from(context))
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
      return Buffer.concat([Uint8Array.of(VERSION), iv, body, cipher.getAuthTag()])
    },
    open(sealed, context) {
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

/** `open` of this box, which keeps the last texts it has opened: each delivery to an endpoint needs the same one. */
export function openingOnce(box: Pick<SecretBox, 'open'>): Pick<SecretBox, 'open'> {
  const opened = memoize((key) => {
    const end = key.lastIndexOf(' ')
    return box.open(Buffer.from(key.slice(end + 1), 'base64'), key.slice(0, end))
  })
  return { open: (sealed, context) => opened(`${context} ${Buffer.from(sealed).toString('base64')}`) }
}

const unreadable = () => new Error('a secret cannot be decrypted: another key, another place, or damaged')
