import type { Node } from 'jsonc-parser'

// Changes a part of a JSON text and leaves every other byte as it is: people keep their settings in an order and with an
// indentation of their own.

/** A text that replaces another one, for whoever wants to undo it. */
export interface Edit {
  at: number
  removed: string
  inserted: string
}

/** The value of an object's member; of several with the name the last one, as in JSON.parse. */
export const memberOf = ({ type, children = [] }: Node, name: string): Node | undefined =>
  type === 'object'
    ? children.findLast((entry) => entry.children?.[0]?.value === name)?.children?.[1]
    : undefined

const endOf = ({ offset, length }: Node): number => offset + length

/** Adds an entry behind the others of an object or array, in the style of the text. An element has the name undefined. */
export function insertEntry(text: string, into: Node, name: string | undefined, value: unknown): Edit {
  const label = name === undefined ? '' : `${JSON.stringify(name)}: `
  const newline = text.includes('\r\n') ? '\r\n' : '\n'
  const first = into.children?.[0]
  const last = into.children?.at(-1)
  if (first !== undefined && last !== undefined && !text.slice(into.offset, first.offset).includes('\n')) {
    // all on a line
    return { at: endOf(last), removed: '', inserted: `, ${label}${JSON.stringify(value)}` }
  }
  const own = indentAt(text, into.offset)
  const unit = unitOf(text)
  const indent = first === undefined ? own + unit : indentAt(text, first.offset)
  const lines = JSON.stringify(value, null, unit).split('\n').join(`${newline}${indent}`)
  const entry = `${newline}${indent}${label}${lines}`
  if (last !== undefined) return { at: endOf(last), removed: '', inserted: `,${entry}` }
  const inside = text.slice(into.offset + 1, endOf(into) - 1)
  return { at: into.offset + 1, removed: inside, inserted: `${entry}${newline}${own}` }
}

/** Takes an entry out of its object or array, with the comma that is then too many. */
export function removeEntry(text: string, entry: Node): Edit {
  const { parent: from } = entry
  if (from?.children === undefined) throw new Error('not an entry of an object or array')
  const index = from.children.indexOf(entry)
  const before = from.children[index - 1]
  const after = from.children[index + 1]
  if (before !== undefined) return cut(text, endOf(before), endOf(entry))
  return after === undefined
    ? cut(text, from.offset + 1, endOf(from) - 1)
    : cut(text, entry.offset, after.offset)
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

/** Returns the blanks at the start of a line. */
function indentAt(text: string, at: number): string {
  const begin = text.lastIndexOf('\n', at - 1) + 1
  return /^[ \t]*/.exec(text.slice(begin))?.[0] ?? ''
}

/** Finds the unit of indentation: the indentation of the text's first line that has one. */
const unitOf = (text: string): string => /\n([ \t]+)\S/.exec(text)?.[1] ?? '  '
