// Characters of made-up secrets, which are assembled at run time, so that no scanner reports these files.

const ALPHABETS = {
  hex: '0123456789abcdef',
  alnum: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
  upper: 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789',
  lower: 'abcdefghijklmnopqrstuvwxyz0123456789',
  letters: 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
  digits: '123456789',
  bech32: 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L',
} as const

/** Characters of the alphabet, the same for the same seed. */
export function chars(alphabet: keyof typeof ALPHABETS, length: number, seed: string): string {
  const letters = ALPHABETS[alphabet]
  let text = ''
  for (let n = 0; text.length < length; n += 1) {
    for (const byte of new Bun.CryptoHasher('sha512').update(`${seed} ${n}`).digest())
      text += letters.charAt(byte % letters.length)
  }
  return text.slice(0, length)
}

export const hex = (length: number, seed = 'a') => chars('hex', length, seed)
export const alnum = (length: number, seed = 'b') => chars('alnum', length, seed)
export const upper = (length: number, seed = 'c') => chars('upper', length, seed)
export const lower = (length: number, seed = 'l') => chars('lower', length, seed)
export const digits = (length: number, seed = 'g') => chars('digits', length, seed)
export const letters = (length: number, seed = 'w') => chars('letters', length, seed)
export const uuid = (seed = 'd') => hex(32, seed).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')

export const bech32 = (length: number, seed = 'r') => chars('bech32', length, seed)

/** The text and the checksum of it that tokens of Atlassian (`hex`) and of GitLab (`base36`) end with. */
export const checked = (digits: 'hex' | 'base36', text: string) =>
  text +
  (digits === 'hex'
    ? Bun.hash.crc32(text).toString(16).toUpperCase().padStart(8, '0')
    : Bun.hash.crc32(text).toString(36).padStart(7, '0'))

/** The text in base64, without padding. */
export const base64 = (text: string) => Buffer.from(text).toString('base64').replace(/=+$/, '')
