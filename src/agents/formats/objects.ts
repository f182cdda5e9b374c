import { MAX_LINE_BYTES } from '../../lines.ts'
import { readLines, type Unreadable } from '../session/json-lines.ts'

/** A JSON object of a file of objects, with the line it begins at. */
export interface FoundObject {
  line: number
  value: unknown
}

/**
 * JSON objects one after another, over as many lines each as they like (OpenCode's exports), streamed. An object that
 * cannot be parsed is reported, and reading goes on at the next line that begins with `{`. An object above 32 MiB is left out.
 */
export async function* readObjects(
  path: string,
  onBytes: (count: number) => void,
  onUnreadable: (problem: Unreadable) => void,
): AsyncGenerator<FoundObject> {
  const state = { depth: 0, inText: false, escaped: false }
  let parts: string[] = []
  let size = 0
  let first = 0
  const problem = (line: number, reason: string) => onUnreadable({ path, line, reason })
  for await (const { number, text } of readLines(path, onBytes)) {
    if (text === undefined) {
      problem(number, `longer than ${MAX_LINE_BYTES / 1024 / 1024} MiB`)
      continue
    }
    // a line that begins an object at its very start, as exports are printed, ends one that was left open
    if (state.depth > 0 && text.startsWith('{')) {
      problem(first, 'an object that does not end')
      Object.assign(state, { depth: 0, inText: false, escaped: false })
    }
    if (state.depth === 0) {
      parts = []
      size = 0
      first = number
    }
    let start = 0
    for (const end of objectEnds(text, state)) {
      parts.push(text.slice(start, end))
      start = end
      const value = parsed(parts.join('\n'))
      if (value === undefined) problem(first, 'not JSON')
      else yield { line: first, value }
      parts = []
      size = 0
      first = number
    }
    if (state.depth === 0) {
      if (text.slice(start).trim() !== '') problem(number, 'not JSON')
      continue
    }
    size += text.length - start
    if (size <= MAX_LINE_BYTES) parts.push(text.slice(start))
    else parts = []
  }
  if (state.depth > 0) problem(first, 'an object that does not end')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

// Only braces, brackets and quotes matter; a regular expression skips the rest at the speed of the engine.
const MARKS = /["\\{}[\]]/g

/** Offsets behind each object that ends in this line; the state carries over to the next. */
function* objectEnds(
  text: string,
  state: { depth: number; inText: boolean; escaped: boolean },
): Generator<number> {
  let skip = -1
  for (const match of text.matchAll(MARKS)) {
    const at = match.index
    if (at === skip) continue
    const mark = match[0]
    if (mark === '\\') {
      if (state.inText) skip = at + 1
    } else if (mark === '"') state.inText = !state.inText
    else if (state.inText) continue
    else if (mark === '{' || mark === '[') state.depth += 1
    else if (state.depth > 0) {
      state.depth -= 1
      if (state.depth === 0) yield at + 1
    }
  }
}
