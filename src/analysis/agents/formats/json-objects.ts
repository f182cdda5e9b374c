import { MAX_LINE_BYTES, splitLines } from '../../../base/split-lines.ts'
import { bytesOf } from '../transcript/file-bytes.ts'
import { parseJson } from '../transcript/json.ts'
import { LINE_TOO_LONG, whyNotRead } from '../transcript/json-lines.ts'

/**
 * Streams the JSON objects and arrays of a file, each over any number of lines (OpenCode's exports). An object that cannot be
 * parsed is passed to `problem`, and reading goes on at the next line that starts with `{`. So is an object above 32 MiB.
 */
export async function* readObjects(
  path: string,
  onBytes: (count: number) => void,
  problem: (line: number, reason: string) => void,
): AsyncGenerator<unknown> {
  const state = { depth: 0, inText: false }
  let parts: string[] = []
  let size = 0
  let first = 0
  for await (const { number, text } of splitLines(bytesOf(path, onBytes))) {
    if (text === undefined) {
      problem(number, LINE_TOO_LONG)
      continue
    }
    // exports are indented: `{` at the start of a line begins a new object, so the open one is cut off
    if (state.depth > 0 && text.startsWith('{')) {
      problem(first, 'an object that does not end')
      Object.assign(state, { depth: 0, inText: false })
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
      const object = parts.join('\n')
      const value = parseJson(object)
      if (value === undefined) problem(first, whyNotRead(object))
      else yield value
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

// Only these characters change the state; the regular expression skips all others in native code.
const MARKS = /["\\{}[\]]/g

/** The offset after each object that ends in this line. Updates `state`, which is carried from line to line. */
function* objectEnds(text: string, state: { depth: number; inText: boolean }): Generator<number> {
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
