// Finds the long words of a text. Nearly every token of a service is one. Of the text of transcripts they are a fifth, and they
// are found four times as fast as one expression searches a text: the expressions that find tokens search them alone.

/** Characters of the shortest long word. */
const SHORTEST = 20
/** Characters before a word that are kept with it: a rule may need those that come before a token. */
const BEFORE = 8
/** 1 for the code of a character of words. */
const IS_IN_WORD = new Uint8Array(0x1_0000)
for (const character of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+/=.~-')
  IS_IN_WORD[character.charCodeAt(0)] = 1

/** A long word: its offset in the text, end exclusive. */
export interface LongWord {
  start: number
  end: number
}

/** The words of a text that have 20 characters or more of `[\w+/=.~-]`. */
export function longWordsIn(text: string): LongWord[] {
  const words: LongWord[] = []
  /** All before is searched. */
  let from = 0
  // a long word has one character at each place of every 20, so most characters need not be looked at
  for (let at = SHORTEST - 1; at < text.length; at = from + SHORTEST - 1) {
    let start = at + 1
    while (start > from && IS_IN_WORD[text.charCodeAt(start - 1)] === 1) start -= 1
    let end = at + 1
    if (start <= at) while (IS_IN_WORD[text.charCodeAt(end)] === 1) end += 1
    from = end
    if (end - start >= SHORTEST) words.push({ start, end })
  }
  return words
}

/** The words, each on a line with the 8 characters before it: what a rule for long words finds in the text it finds here too. */
export const joinedWords = (text: string, words: readonly LongWord[]): string =>
  words.map(({ start, end }) => text.slice(Math.max(0, start - BEFORE), end)).join('\n')
