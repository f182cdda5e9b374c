import type { LongWord } from './long-words.ts'
import type { Scanner } from './secret-rules.ts'

/** Characters of a piece, which ends where the line ends that has the last of them. */
const PIECE = 512 * 1024
/** Characters that a piece shares with the one before. */
const OVERLAP = 48 * 1024
/**
 * The first of the shared characters: what starts there is taken from the piece before, since a rule may see only a
 * part of it here. The other 32 KiB are more than the longest secret of several lines, a private key of 23 KB.
 */
const LEAD = 16 * 1024

/**
 * A scanner that scans long texts in pieces, which bounds the memory of what it searches. No line is cut, so that a secret of any
 * length on one line is in one piece. What starts in the characters that two pieces share may be found twice: the longer
 * finding is the whole one.
 */
export function inPieces(scan: Scanner): Scanner {
  return async (text, words) => {
    if (text.length <= PIECE) return scan(text, words)
    const found = []
    let first = 0
    for (const { start, end } of piecesOf(text)) {
      while (first < words.length && (words[first]?.end ?? 0) <= start) first += 1
      const own: LongWord[] = []
      for (let at = first; at < words.length; at += 1) {
        const word = words[at]
        if (word === undefined || word.start >= end) break
        own.push({ start: Math.max(0, word.start - start), end: Math.min(end, word.end) - start })
      }
      for (const raw of await scan(text.slice(start, end), own)) {
        if (start === 0 || raw.start >= LEAD) found.push({ ...raw, start: start + raw.start })
      }
    }
    return found
  }
}

function* piecesOf(text: string): Generator<{ start: number; end: number }> {
  let start = 0
  for (;;) {
    const lineEnd = text.indexOf('\n', start + PIECE)
    const end = lineEnd === -1 ? text.length : lineEnd + 1
    yield { start, end }
    if (end === text.length) return
    start = end - OVERLAP
  }
}
