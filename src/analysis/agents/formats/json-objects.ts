import { MAX_LINE_BYTES } from '../../../base/split-lines.ts'
import { parseJson } from '../transcript/json-fields.ts'
import { LINE_TOO_LONG, readLines } from '../transcript/json-lines.ts'
import type { Unreadable } from '../transcript/source-file.ts'

/** A JSON value and the number of the line where it starts. */
interface PlacedValue {
  line: number
  value: unknown
}

/**
 * Streams the JSON values of a file, each on one line or indented over many, as OpenCode writes them: of its lines only the
 * first and the last begin with a bracket. A value that cannot be parsed is passed to `onUnreadable`, and reading goes on at the
 * next one. So is a value above 32 MiB.
 */
export async function* readObjects(
  path: string,
  onBytes: (count: number) => void,
  onUnreadable: (problem: Unreadable) => void,
): AsyncGenerator<PlacedValue> {
  /** The lines of the value that is read. */
  let open: string[] | null = null
  let size = 0
  let first = 0
  const problem = (line: number, reason: string) => onUnreadable({ path, line, reason })
  for await (const { number, text } of readLines(path, onBytes)) {
    if (text === undefined) {
      problem(number, LINE_TOO_LONG)
      continue
    }
    // the next value may begin behind the last one, in files that were put together
    for (const line of text.split(/(?<=^[}\]])(?=[{[])/)) {
      const isFirst = /^[{[]/.test(line)
      if (isFirst) {
        if (open !== null) problem(first, 'an object that does not end')
        open = []
        size = 0
        first = number
      } else if (open === null) {
        if (line.trim() !== '') problem(number, 'not JSON')
        continue
      }
      size += line.length
      if (size <= MAX_LINE_BYTES) open.push(line)
      else open = []
      const isLast = /^[}\]]/.test(line)
      if (!isLast && !(isFirst && /[}\]]\s*$/.test(line))) continue
      const value = parseJson(open.join('\n'))
      if (value !== undefined) yield { line: first, value }
      else if (isLast) problem(first, 'not JSON')
      // a first line may end with a bracket of its own
      if (value !== undefined || isLast) open = null
    }
  }
  if (open !== null) problem(first, 'an object that does not end')
}
