// Changes a part of a JSON text and leaves every other byte as it is: people keep their settings in an order and with an
// indentation of their own.

/** A value in a text; `end` is behind its last character. */
export interface JsonNode {
  start: number
  end: number
  kind: 'object' | 'array' | 'other'
  entries: JsonEntry[]
}

/** A member of an object, from its name on, or an element of an array, which has the name ''. */
interface JsonEntry {
  name: string
  start: number
  value: JsonNode
}

/** A text that replaces another one, for whoever wants to undo it. */
export interface Edit {
  at: number
  removed: string
  inserted: string
}

const SPACE = /[ \t\r\n]*/y
const STRING = /"(?:[^"\\]|\\.)*"/y
const OTHER = /[^\s,\]}]+/y

/** The places of all values of a text that JSON.parse accepts. */
export function scanJson(text: string): JsonNode {
  let at = 0
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = at
    const [found = ''] = pattern.exec(text) ?? []
    at += found.length
    return found
  }
  const entries = (close: string): JsonEntry[] => {
    const list: JsonEntry[] = []
    at += 1
    for (take(SPACE); text[at] !== close; take(SPACE)) {
      if (text[at] === ',') {
        at += 1
        take(SPACE)
      }
      const start = at
      let name = ''
      if (close === '}') {
        name = JSON.parse(take(STRING)) as string
        take(SPACE)
        at += 1
        take(SPACE)
      }
      list.push({ name, start, value: value() })
    }
    at += 1
    return list
  }
  const value = (): JsonNode => {
    const start = at
    if (text[at] === '{') return { start, kind: 'object', entries: entries('}'), end: at }
    if (text[at] === '[') return { start, kind: 'array', entries: entries(']'), end: at }
    take(text[at] === '"' ? STRING : OTHER)
    return { start, kind: 'other', entries: [], end: at }
  }
  take(SPACE)
  return value()
}

/** The value of an object's member; of several with the name the last one, as in JSON.parse. */
export const memberOf = (node: JsonNode, name: string): JsonNode | undefined =>
  node.kind === 'object' ? node.entries.findLast((entry) => entry.name === name)?.value : undefined

/** Adds an entry behind the others of an object or array, in the style of the text. An element has the name undefined. */
export function insertEntry(text: string, into: JsonNode, name: string | undefined, value: unknown): Edit {
  const label = name === undefined ? '' : `${JSON.stringify(name)}: `
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const [first] = into.entries
  const last = into.entries.at(-1)
  if (first !== undefined && last !== undefined && !text.slice(into.start, first.start).includes('\n')) {
    // all on a line
    return { at: last.value.end, removed: '', inserted: `, ${label}${JSON.stringify(value)}` }
  }
  const own = indentAt(text, into.start)
  const unit = unitOf(text)
  const indent = first === undefined ? own + unit : indentAt(text, first.start)
  const lines = JSON.stringify(value, null, unit).split('\n').join(`${newline}${indent}`)
  const entry = `${newline}${indent}${label}${lines}`
  if (last !== undefined) return { at: last.value.end, removed: '', inserted: `,${entry}` }
  const inside = text.slice(into.start + 1, into.end - 1)
  return { at: into.start + 1, removed: inside, inserted: `${entry}${newline}${own}` }
}

/** Takes an entry out of an object or array, with the comma that is then too many. */
export function removeEntry(text: string, from: JsonNode, index: number): Edit {
  const before = from.entries[index - 1]
  const after = from.entries[index + 1]
  const entry = from.entries[index]
  if (before !== undefined && entry !== undefined) return cut(text, before.value.end, entry.value.end)
  if (after !== undefined && entry !== undefined) return cut(text, entry.start, after.start)
  return cut(text, from.start + 1, from.end - 1)
}

const cut = (text: string, start: number, end: number): Edit => ({
  at: start,
  removed: text.slice(start, end),
  inserted: '',
})

export const apply = (text: string, { at, removed, inserted }: Edit): string =>
  text.slice(0, at) + inserted + text.slice(at + removed.length)

export const undo = (text: string, { at, removed, inserted }: Edit): string =>
  apply(text, { at, removed: inserted, inserted: removed })

/** The edit that makes `after` of `before`: what is between their common beginning and end. */
export function editBetween(before: string, after: string): Edit {
  let at = 0
  while (at < before.length && at < after.length && before[at] === after[at]) at += 1
  let same = 0
  const shorter = Math.min(before.length, after.length) - at
  while (same < shorter && before.at(-1 - same) === after.at(-1 - same)) same += 1
  return {
    at,
    removed: before.slice(at, before.length - same),
    inserted: after.slice(at, after.length - same),
  }
}

/** What a line begins with before its first character that is no blank. */
function indentAt(text: string, at: number): string {
  const begin = text.lastIndexOf('\n', at - 1) + 1
  return /^[ \t]*/.exec(text.slice(begin))?.[0] ?? ''
}

/** What the text indents by: the indentation of its first line that has one. */
const unitOf = (text: string): string => /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '
