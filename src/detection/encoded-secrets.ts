import type { RawFinding, Scanner } from './secret-rules.ts'

/** Base64 of at least 18 bytes, also wrapped over lines; every character has one way to match. */
const BASE64 = /[A-Za-z0-9+/]{24,}(?:(?:\r?\n|\\n)[A-Za-z0-9+/]{4,})*={0,2}/g
const PRINTABLE = /^[\t\n\r\x20-\x7e]+$/
/** Enough of it to tell a text from an image or a hash, a multiple of 4. */
const HEAD = 64
const MAX_RUNS = 10_000
const SEPARATOR = '\n\u0000\u0000\n'

/**
 * Secrets inside base64, as Kubernetes secrets and encoded settings hold them: runs that decode to plain text are
 * scanned like any text. Place and length are those of the run, the fingerprint is that of the secret itself.
 */
export async function findEncoded(text: string, scan: Scanner): Promise<RawFinding[]> {
  const runs: { at: number; length: number; from: number }[] = []
  let decoded = ''
  for (const match of text.matchAll(BASE64)) {
    const plain = decode(match[0])
    if (plain === null) continue
    runs.push({ at: match.index, length: match[0].length, from: decoded.length })
    decoded += plain + SEPARATOR
    if (runs.length === MAX_RUNS) break
  }
  if (runs.length === 0) return []
  const found: RawFinding[] = []
  for (const raw of await scan(decoded)) {
    const run = runs.findLast(({ from }) => from <= raw.start)
    if (run !== undefined)
      found.push({ ...raw, title: `${raw.title} in base64`, start: run.at, length: run.length })
  }
  return found
}

function decode(run: string): string | null {
  const head = run.slice(0, HEAD)
  if (!/[\n\\]/.test(head) && !PRINTABLE.test(Buffer.from(head, 'base64').toString('latin1'))) return null
  const plain = Buffer.from(run.replace(/\\n|\s/g, ''), 'base64').toString('latin1')
  return PRINTABLE.test(plain) ? plain : null
}
