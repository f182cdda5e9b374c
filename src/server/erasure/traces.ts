// Finds an address, an id and names in texts, exactly as they are but for the case of letters.

export interface Person {
  email: string
  /** The other addresses of a member, in lower case. */
  aliases: readonly string[]
  /** The member's id; null: there is no member. */
  memberId: string | null
  /** Names of two words or more are looked for in all texts: one word may mean anything. */
  names: readonly string[]
}

export interface Pseudonym {
  name: string
  email: string
  memberId: string
}

export const pseudonymOf = (token: string): Pseudonym => ({
  name: `erased-${token}`,
  email: `erased-${token}@erased.invalid`,
  memberId: `user_erased-${token}`,
})

/**
 * A trace begins and ends where an address, id or name does: `canada@example.com`, `x.ada@example.com` and
 * `ada@example.com.au` have none of `ada@example.com`.
 */
export function tracesOf({ email, aliases, memberId, names }: Person, pseudonym: Pseudonym) {
  const full = [...new Set(names.map((name) => name.trim()))].filter((name) => /\S\s+\S/u.test(name))
  // longer ones first: one may begin as another does
  full.sort((a, b) => b.length - a.length)
  const addresses = [email, ...aliases]
  const ids = memberId === null ? [] : [memberId]
  const replacements = [
    ...addresses.map((text) =>
      replacing(text, '\\p{L}\\p{N}._+-', '[\\p{L}\\p{N}_-]|\\.[\\p{L}\\p{N}]', pseudonym.email),
    ),
    ...ids.map((text) => replacing(text, '\\w-', '[\\w-]', pseudonym.memberId)),
  ]
  const nameReplacements = full.map((text) =>
    replacing(text, '\\p{L}\\p{N}', '[\\p{L}\\p{N}]', pseudonym.name),
  )
  return {
    /** A pattern of PostgreSQL's `~*`, which a text that `erase` changes matches; others may match too. */
    pattern: [...addresses, ...ids, ...full].map(patternOf).join('|'),
    /** The text with the pseudonym in place of address, id and names, in either case. A JSON text stays one. */
    erase: (text: string): string => replaced(text, [...replacements, ...nameReplacements]),
    /** Erases addresses but no names, in names of other people. */
    eraseAddress: (text: string): string => replaced(text, replacements),
  }
}

export type Traces = ReturnType<typeof tracesOf>

interface Replacement {
  regex: RegExp
  by: string
}

/** Finds a text that stands neither behind one of the characters nor before what `notBefore` matches. */
const replacing = (text: string, notAfter: string, notBefore: string, by: string): Replacement => ({
  // the first `\\n` of a JSON text is no letter
  regex: new RegExp(`(?:(?<![${notAfter}])|(?<=\\\\[bfnrt]))${patternOf(text)}(?!${notBefore})`, 'giu'),
  by,
})

const replaced = (text: string, replacements: readonly Replacement[]): string =>
  replacements.reduce((result, { regex, by }) => result.replace(regex, by), text)

/** The text itself and as JSON escapes it, as a regular expression of JavaScript and of PostgreSQL. */
const patternOf = (text: string): string =>
  [...new Set([text, JSON.stringify(text).slice(1, -1)])]
    .map(escaped)
    .join('|')
    .replace(/^(.*\|.*)$/, '(?:$1)')

/** Characters that may mean something to an engine are written by their codes. */
const escaped = (text: string): string =>
  text.replace(/[^\p{L}\p{N}]/gu, (char) => {
    const code = char.codePointAt(0) ?? 0
    return code > 0xffff ? char : `\\u${code.toString(16).padStart(4, '0')}`
  })
