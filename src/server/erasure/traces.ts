// Finds an address and names in texts, in whatever form they were written: with other letters' case, percent-encoded
// (once or more often), with the escapes of JSON (also of JSON in a JSON text), as HTML entities.

export interface Person {
  /** The address in lower case. */
  email: string
  /** The other addresses of a member, in lower case. */
  aliases: readonly string[]
  /** The member's id; null: there is no member. */
  memberId: string | null
  /** Names of two words or more are looked for in all texts: one word may mean anything. */
  names: readonly string[]
}

/** The pseudonym of a person who was erased. */
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
 * A trace begins and ends where an address, id or name does: `canada@example.com` and `ada@example.com.au` have none of
 * `ada@example.com`.
 */
export function tracesOf({ email, aliases, memberId, names }: Person, pseudonym: Pseudonym) {
  const full = [...new Set(names.map((name) => name.trim()))].filter((name) => /\S\s+\S/u.test(name))
  // longer ones first: one may begin as another does
  full.sort((a, b) => b.length - a.length)
  // `x.ada@example.com` has none of `ada@example.com`: the order does not matter
  const addresses = [email, ...aliases]
  const ids = memberId === null ? [] : [memberId]
  const replacements = [
    ...addresses.map((address) => replacing(address, '\\p{L}\\p{N}._+-', ENDS_ADDRESS, pseudonym.email)),
    ...ids.map((id) => replacing(id, 'A-Za-z0-9_-', '(?![A-Za-z0-9_-])', pseudonym.memberId)),
  ]
  const named = full.map((name) => replacing(name, '\\p{L}\\p{N}', '(?![\\p{L}\\p{N}])', pseudonym.name))
  const all = [...addresses, ...ids, ...full]
  return {
    /**
     * Patterns of PostgreSQL's `~*`: a text that `erase` changes matches `usual`, where letters and digits stand for
     * themselves, or both `encoded`, where some do not, and `any`. Others may match too. `any` alone takes ten times as
     * long as the others.
     */
    patterns: {
      usual: all.map((text) => formOf(text, 'sql', true)).join('|'),
      encoded: ENCODED,
      any: all.map((text) => formOf(text, 'sql')).join('|'),
    },
    /** The text with the pseudonym in place of address, id and names. A JSON text stays one. */
    erase: (text: string): string => replaced(text, [...replacements, ...named]),
    /** Erases addresses but no names, in names of other people. */
    eraseAddress: (text: string): string => replaced(text, replacements),
  }
}

export type Traces = ReturnType<typeof tracesOf>

/**
 * The ends of domains that may go on behind an address: of countries, and the common ones of all. Those that are usual
 * endings of files (`md`, `py`, `rs`, `sh`) are none: what is left of a person is worse than a file of another that gets
 * another name.
 */
const TOP_LEVELS = [
  'com net org edu gov mil info biz',
  'ac ad ae af ag ai al am ao aq ar as at au aw ax az ba bb bd be bf bg bh bi bj bm bn bo br bs bt bw by bz',
  'ca cd cf cg ch ci ck cl cm cn co cr cu cv cw cx cy cz de dj dk dm do dz ec ee eg er es et eu fi fj fk fm fo fr',
  'ga gd ge gf gg gh gi gl gm gn gp gq gr gs gt gu gw gy hk hm hn hr ht hu id ie il im in io iq ir is it je jm jo jp',
  'ke kg kh ki km kn kp kr kw ky kz la lb lc li lk lr ls lt lu lv ly ma mc me mg mh mn mo mp mq mr ms mt mu mv mw mx',
  'my mz na nc ne nf ng ni nl no np nr nu nz om pa pe pf pg ph pk pl pn pr pt pw qa re ro ru rw sa sb sc sd se sg si',
  'sk sl sm sn sr ss st su sv sx sy sz tc td tg th tj tk tl tm tn to tr tt tv tw tz ua ug uk us uy uz va vc ve vg vi',
  'vn vu wf ws ye yt za zm zw',
]
  .join(' ')
  .replaceAll(' ', '|')

/** An address does not end before the rest of a longer domain: more of its last part, or others and a known end. */
const ENDS_ADDRESS = `(?![\\p{L}\\p{N}]|(?:-[\\p{L}\\p{N}-]*)?(?:\\.[\\p{L}\\p{N}-]+){0,2}\\.(?:${TOP_LEVELS})(?![\\p{L}\\p{N}-]))`

interface Replacement {
  regex: RegExp
  by: string
}

/** Finds all forms of a text that does not begin behind one of these characters, unless that is the end of an escape. */
const replacing = (text: string, notAfter: string, end: string, by: string): Replacement => {
  const start = `(?:(?<![${notAfter}])|(?<=%[0-9a-f]{2})|(?<=\\\\[bfnrt])|(?<=\\\\u[0-9a-f]{4}))`
  return { regex: new RegExp(`${start}${formOf(text, 'js')}${end}`, 'giu'), by }
}

function replaced(text: string, replacements: readonly Replacement[]): string {
  let result = text
  for (const { regex, by } of replacements) {
    result = result.replace(regex, (found) => (found.includes('%') ? encodeURIComponent(by) : by))
  }
  return result
}

type Engine = 'js' | 'sql'

/** A letter or digit of ASCII that is percent-encoded, or an escape of JSON; or any HTML entity. */
const ENCODED = '(?:%(?:25)*|\\\\u00)(?:3[0-9]|[46][1-9a-f]|[57][0-9a])|&#'

/** A regular expression of all forms of the text, or of those with plain letters and digits; white space stands for any. */
const formOf = (text: string, engine: Engine, isUsual = false): string =>
  text
    .split(/\s+/u)
    .map((word) =>
      [...word]
        .map((char) =>
          isUsual && /[a-z0-9]/i.test(char) ? literal(char, engine) : formsOfChar(char, engine),
        )
        .join(''),
    )
    .join(SPACES)

/** `\n` and `\t` are those of JSON. */
const SPACES = '(?:\\s|%(?:25)*20|\\+|\\\\+[nt]|\\\\+u0020|&nbsp;)+'

function formsOfChar(char: string, engine: Engine): string {
  const cases = [...new Set([char, char.toLowerCase(), char.toUpperCase()])].filter(
    (each) => [...each].length === 1,
  )
  const one = (form: (each: string) => string) => [...new Set(cases.map(form))].join('|')
  const percent = one((each) =>
    [...new TextEncoder().encode(each)].map((byte) => `%(?:25)*${hex(byte, 2)}`).join(''),
  )
  const json = one((each) =>
    Array.from({ length: each.length }, (_unit, at) => `\\\\+u${hex(each.charCodeAt(at), 4)}`).join(''),
  )
  const html = one((each) => {
    const code = each.codePointAt(0) ?? 0
    return `&#(?:0*${code}|x0*${code.toString(16)});`
  })
  return `(?:${one((each) => literal(each, engine))}|${percent}|${json}|${html})`
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')

/** Writes a character by its code, so that it means nothing else to an engine. */
function literal(char: string, engine: Engine): string {
  const code = char.codePointAt(0) ?? 0
  if (code <= 0xffff) return `\\u${hex(code, 4)}`
  return engine === 'js' ? `\\u{${hex(code, 1)}}` : `\\U${hex(code, 8)}`
}
