// Finds the lines that a tool call wrote, in its input or result, as keys: their text is not kept.

import { lineKeys } from '../git/effective-lines.ts'
import { isObject, type Json, listOf, objectOf, textOf } from './json.ts'

export interface WrittenLines {
  path: string
  keys: string[]
  /** It is the whole file, and what was there before is not known. */
  isWhole: boolean
}

const OLD_KEYS = ['old_string', 'oldString', 'old_str', 'oldText', 'old_text']
const NEW_KEYS = ['new_string', 'newString', 'new_str', 'newText', 'new_text']
const WHOLE_KEYS = ['content', 'file_text', 'contents']

/** Returns the lines that a call writes, by its decoded input. `paths`: the files that it names; `patch`: that of its input. */
export function linesOfInput(
  input: Json,
  { paths, patch }: { paths: readonly string[]; patch: string },
): WrittenLines[] {
  if (patch !== '') return linesOfPatch(patch)
  if (isObject(input.changes)) return linesOfChanges(input.changes)
  const [path] = paths
  if (path === undefined) return []
  const cell = path.endsWith('.ipynb') ? textOf(input.new_source) : null
  if (cell !== null) return [{ path, keys: lineKeys(linesOfCell(cell)), isWhole: false }]
  const diff = textOf(input.diff)
  const whole = diff ?? firstText(input, WHOLE_KEYS)
  const replaced = replacedKeys(whole ?? '') ?? (diff === null ? null : addedKeys(diff))
  if (replaced !== null) return [{ path, keys: replaced, isWhole: false }]
  if (whole !== null) return [{ path, keys: keysOf(whole), isWhole: true }]
  const edits = [input, ...listOf(input.edits).map(objectOf)]
  const keys = edits.flatMap((edit) =>
    without(keysOf(firstText(edit, NEW_KEYS) ?? ''), keysOf(firstText(edit, OLD_KEYS) ?? '')),
  )
  return [{ path, keys, isWhole: false }]
}

/** The lines of a notebook's cell as its file has them: in a list of JSON. */
function linesOfCell(source: string): string[] {
  const lines = source.split('\n')
  const last = lines.length - 1
  return lines.map((line, at) => (at < last ? `${JSON.stringify(`${line}\n`)},` : JSON.stringify(line)))
}

const firstText = (input: Json, keys: readonly string[]): string | null =>
  keys.map((key) => textOf(input[key])).find((text) => text !== null) ?? null

const keysOf = (text: string): string[] => lineKeys(text.split('\n'))

/** The keys that are more often in `keys` than in `others`. */
export function without(keys: readonly string[], others: Iterable<string>): string[] {
  const counts = new Map<string, number>()
  for (const key of others) counts.set(key, (counts.get(key) ?? 0) + 1)
  return keys.filter((key) => {
    const count = counts.get(key) ?? 0
    counts.set(key, count - 1)
    return count <= 0
  })
}

/** The lines that blocks from `SEARCH` to `REPLACE`, as Cline's, add; null for a text without any. */
function replacedKeys(text: string): string[] | null {
  // one pattern of a whole block would look through the rest of the text for each beginning
  if (!text.includes(' SEARCH')) return null
  const keys: string[][] = []
  let before: string[] | undefined
  let after: string[] | undefined
  for (const line of text.split('\n')) {
    if (before === undefined) {
      if (/^[<-]{7,} SEARCH>?$/.test(line)) before = []
    } else if (after === undefined) {
      if (line === '=======') after = []
      else before.push(line)
    } else if (/^[>+]{7,} REPLACE/.test(line)) {
      keys.push(without(lineKeys(after), lineKeys(before)))
      before = undefined
      after = undefined
    } else after.push(line)
  }
  return keys.length === 0 ? null : keys.flat()
}

/** The added lines of `*** Begin Patch`, which may be in a here-document. */
function linesOfPatch(patch: string): WrittenLines[] {
  const files: { path: string; lines: string[] }[] = []
  for (const line of patch.split('\n')) {
    const [, action, path = ''] =
      /^\*\*\* (?:(Add File|Update File|Move to|Delete File): |End Patch)(.*)/.exec(line) ?? []
    const last = files.at(-1)
    if (action === 'Move to' && last !== undefined) last.path = path.trim()
    else if (line.startsWith('*** ')) files.push({ path: path.trim(), lines: [] })
    else if (line.startsWith('+')) last?.lines.push(line.slice(1))
  }
  return files
    .filter(({ path }) => path !== '')
    .map(({ path, lines }) => ({ path, keys: lineKeys(lines), isWhole: false }))
}

/** Codex's record of what a patch did, by path. */
const linesOfChanges = (changes: Json): WrittenLines[] =>
  Object.entries(changes).map(([path, value]) => {
    const change = objectOf(value)
    const content = change.type === 'add' ? textOf(change.content) : null
    const diff = textOf(change.unified_diff)
    const keys = content === null ? addedKeys(diff ?? '') : keysOf(content)
    return { path: textOf(change.move_path) ?? path, keys, isWhole: false }
  })

export function addedKeys(diff: string): string[] {
  const lines = diff.split('\n')
  const start = lines.findIndex((line) => line.startsWith('@@'))
  const hunks = start === -1 ? [] : lines.slice(start)
  return lineKeys(hunks.flatMap((line) => (line.startsWith('+') ? line.slice(1) : [])))
}

/** The keys of lines that Claude Code recorded as added (`toolUseResult`); null where it recorded none. */
export function addedKeysOfResult({ structuredPatch, type }: Json): string[] | null {
  if (!Array.isArray(structuredPatch) || structuredPatch.length === 0 || type === 'create') return null
  const lines = structuredPatch.flatMap((hunk) => listOf(objectOf(hunk).lines))
  return lineKeys(
    lines.flatMap((line) => (typeof line === 'string' && line.startsWith('+') ? line.slice(1) : [])),
  )
}
