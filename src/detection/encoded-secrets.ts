import { type RawFinding, type Scanner, TEXT_SEPARATOR } from './secret-rules.ts'

/**
 * Base64 of at least 18 bytes, also over several lines. No character matches two parts of it: no
 * backtracking.
 */
export const ENCODED = /[A-Za-z0-9+/]{24,}(?:(?:\r?\n|\\n)[A-Za-z0-9+/]{4,})*={0,2}/g
const PRINTABLE = /^[\t\n\r\x20-\x7e]+$/
/** Characters decoded first, to tell text from binary data; a multiple of 4. */
const HEAD = 64

/**
 * Finds secrets inside base64, such as Kubernetes secrets: runs of base64 that decode to printable ASCII are scanned like
 * any text. A finding has the position and length of its run, and the secret in plain text.
 */
export async function findEncoded(text: string, scan: Scanner): Promise<RawFinding[]> {
  const runs: { at: number; length: number; from: number }[] = []
  let decoded = ''
  for (const match of text.matchAll(ENCODED)) {
    const plain = decode(match[0])
    if (plain === null) continue
    runs.push({ at: match.index, length: match[0].length, from: decoded.length })
    decoded += plain + TEXT_SEPARATOR
  }
  if (runs.length === 0) return []
  const found: RawFinding[] = []
  let index = 0
  for (const raw of (await scan(decoded)).sort((a, b) => a.start - b.start)) {
    while ((runs[index + 1]?.from ?? Number.POSITIVE_INFINITY) <= raw.start) index += 1
    const run = runs[index]
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
