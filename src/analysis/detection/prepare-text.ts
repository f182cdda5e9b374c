// Prepares a text for the search of all rules for secrets, and tells which rules can match in it.

import { joinedWords, type LongWord } from './long-words.ts'

/** A text in the forms in which it is searched for what rules need. They are valid until the next text is. */
export interface Searched {
  /** The low byte of each character. */
  bytes: Buffer
  /** The same as a text: of one byte per character, it is searched faster. */
  narrow: string
  /** The long words of it: see `joinedWords`. */
  words: string
}

/**
 * A rule finds nothing in a text that does not match an expression, or that has none of these texts: they are searched for in
 * bytes, which is faster. An expression without `\s`, `.` and negated classes matches `narrow` where it matches the text.
 */
export type Needed = RegExp | readonly string[]

export const hasNeeded = ({ bytes, narrow }: Searched, needed: Needed): boolean =>
  needed instanceof RegExp ? needed.test(narrow) : needed.some((text) => bytes.includes(text))

/** Holds the bytes of one text at a time: new memory takes longer than the copy. */
const shared = Buffer.allocUnsafe(1024 * 1024)

export function searchedOf(text: string, words: readonly LongWord[]): Searched {
  const buffer = text.length > shared.length ? Buffer.allocUnsafe(text.length) : shared
  const bytes = buffer.subarray(0, buffer.write(text, 'latin1'))
  const narrow = bytes.toString('latin1')
  return { bytes, narrow, words: joinedWords(narrow, words) }
}
