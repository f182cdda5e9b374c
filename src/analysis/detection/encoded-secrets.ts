// Finds texts in base64 or hexadecimal, so that what they encode is searched for secrets too.

import { type LongWord, longWordsIn } from './long-words.ts'
import { type RawFinding, type Scanner, TEXT_SEPARATOR } from './secret-rules.ts'

/** Characters of the shortest run: 18 bytes. */
const SHORTEST = 24
/** Base64 of at least 18 bytes, also over several lines. No character matches two parts of it: no backtracking. */
export const ENCODED = /[A-Za-z0-9+/]{24,}(?:(?:\r?\n|\\n)[A-Za-z0-9+/]{4,})*={0,2}/y
/** 1 for the code of a base64 character. */
const IS_BASE64 = new Uint8Array(0x1_0000)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
  IS_BASE64[character.charCodeAt(0)] = 1
const PRINTABLE = /^[\t\n\r\x20-\x7e]+$/
/** Characters decoded first, to tell text from binary data; a multiple of 4. */
const HEAD = 64

/** Finds secrets inside base64, as of Kubernetes, at the position of their run: what decodes to ASCII is scanned as text. */
export async function findEncoded(
  text: string,
  words: readonly LongWord[],
  scan: Scanner,
): Promise<RawFinding[]> {
  const runs: { at: number; length: number; from: number }[] = []
  let decoded = ''
  for (const { at, run } of encodedIn(text, words)) {
    const plain = decode(run)
    if (plain === null) continue
    runs.push({ at, length: run.length, from: decoded.length })
    decoded += plain + TEXT_SEPARATOR
  }
  if (runs.length === 0) return []
  const findings: RawFinding[] = []
  let index = 0
  for (const raw of (await scan(decoded, longWordsIn(decoded))).sort((a, b) => a.start - b.start)) {
    while ((runs[index + 1]?.from ?? Number.POSITIVE_INFINITY) <= raw.start) index += 1
    const run = runs[index]
    if (run !== undefined)
      findings.push({ ...raw, title: `${raw.title} in base64`, start: run.at, length: run.length })
  }
  return findings
}

/**
 * The matches of ENCODED, each of which begins in a long word. A run of 24 characters has one at each place of every 24, so most
 * characters need not be looked at: the expression alone, which tries every character as a start, takes four times as long.
 */
export function* encodedIn(text: string, words: readonly LongWord[]): Generator<{ at: number; run: string }> {
  /** All before is searched. */
  let from = 0
  for (const word of words) {
    from = Math.max(from, word.start)
    for (let at = from + SHORTEST - 1; at < word.end; at = from + SHORTEST - 1) {
      let start = at + 1
      while (start > from && IS_BASE64[text.charCodeAt(start - 1)] === 1) start -= 1
      let end = at + 1
      if (start <= at) while (end < start + SHORTEST && IS_BASE64[text.charCodeAt(end)] === 1) end += 1
      from = end
      if (end - start < SHORTEST) continue
      ENCODED.lastIndex = start
      const run = ENCODED.exec(text)?.[0] ?? ''
      from = start + run.length
      yield { at: start, run }
    }
  }
}

function decode(run: string): string | null {
  const head = run.slice(0, HEAD)
  if (!/[\n\\]/.test(head) && !PRINTABLE.test(Buffer.from(head, 'base64').toString('latin1'))) return null
  const plain = Buffer.from(run.replace(/\\n|\s/g, ''), 'base64').toString('latin1')
  return PRINTABLE.test(plain) ? plain : null
}
