import { expect, test } from 'bun:test'
import { MIGRATIONS } from '../../src/database/migrate.ts'

// Databases of a release remember its migrations by their hashes and are refused when one differs.

/** The number of migrations of each release, and the hash of their texts. */
const RELEASED = {
  '0.2.0': { count: 13, sha256: '8e8967ca1368fab21abfa2a74947a5238eeec56e9b68365e8810e84622a252e3' },
}

test('the migrations of a release are as they were released', () => {
  for (const [version, { count, sha256 }] of Object.entries(RELEASED)) {
    const texts = MIGRATIONS.slice(0, count).map(({ number, name, text }) => `${number} ${name}\n${text}`)
    const hash = new Bun.CryptoHasher('sha256').update(texts.join('')).digest('hex')
    expect({ version, count: texts.length, hash }).toEqual({ version, count, hash: sha256 })
  }
})
