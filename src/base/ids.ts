// Makes random texts and ids: random, in order of time, or derived from what they name, as a session's or a file's.

const LOWER_ALNUM = '0123456789abcdefghijklmnopqrstuvwxyz'
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

export type IdPrefix =
  | 'org'
  | 'user'
  | 'sess'
  | 'budget'
  | 'note'
  | 'obs'
  | 'finding'
  | 'log'
  | 'report'
  | 'risk'
  | 'hook'
  | 'dest'
  | 'plan'
  | 'alert'
  | 'digest'
  | 'evt'
  | 'dlv'
  | 'eff'

const ID_LENGTH = 20

/** `length` characters of `alphabet`, each equally likely, from a cryptographic random source. */
export function randomText(alphabet: string, length: number): string {
  const limit = 256 - (256 % alphabet.length)
  let text = ''
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(length * 2)))
      if (byte < limit && text.length < length) text += alphabet[byte % alphabet.length]
  }
  return text
}

/** A new random id: the prefix and 20 characters of 0-9a-z (103 bits). */
export const newId = (prefix: IdPrefix): string => `${prefix}_${randomText(LOWER_ALNUM, ID_LENGTH)}`

const TIME_LENGTH = 8

/** A new id that sorts by its millisecond, so that rows made together are adjacent: 8 characters of time, 12 random (62 bits). */
export const newOrderedId = (prefix: IdPrefix, now: Date): string =>
  `${orderedIdFloor(prefix, now)}${randomText(LOWER_ALNUM, ID_LENGTH - TIME_LENGTH)}`

/** The lower bound of ordered ids made at `at` or later. */
export const orderedIdFloor = (prefix: IdPrefix, at: Date): string =>
  `${prefix}_${at.getTime().toString(36).padStart(TIME_LENGTH, '0')}`

/** An id computed from `parts`, for records without an id of their own: syncing one again changes nothing. */
export function derivedId(prefix: IdPrefix, ...parts: (string | number)[]): string {
  const digest = new Bun.CryptoHasher('sha256').update(JSON.stringify(parts)).digest('hex')
  return `${prefix}_${BigInt(`0x${digest}`).toString(36).padStart(ID_LENGTH, '0').slice(0, ID_LENGTH)}`
}

/** `count` random lower-case letters and digits, for the public part of API keys and for request ids. */
export const randomLowerAlnum = (count: number): string => randomText(LOWER_ALNUM, count)

/** The heatmap's key of a file: the first 16 bytes of SHA-256 of its name, in hex. */
export const fileKeyOf = (file: string): string =>
  new Bun.CryptoHasher('sha256').update(file).digest('hex').slice(0, 32)

/** Characters of an agent's id that are kept. */
const AGENT_ID_LENGTH = 64

/** The id of a session: `sess_` and the agent's id; one that is long or has other characters ends in a hash. */
export function sessionIdOf(agentId: string): string {
  const plain = agentId.replace(/[^A-Za-z0-9_-]/g, '-') || 'unnamed'
  if (plain === agentId && plain.length <= AGENT_ID_LENGTH) return `sess_${plain}`
  const hash = new Bun.CryptoHasher('sha256').update(agentId).digest('hex').slice(0, 20)
  return `sess_${plain.slice(0, AGENT_ID_LENGTH - 21)}-${hash}`
}

export const idsOf = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id)
