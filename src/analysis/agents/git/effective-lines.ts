/** Picks the lines and files that say who wrote them, and makes the lines' keys: docs/outcomes.md lists what is left out, and why. */
const MAX_LENGTH = 1_000
const MIN_LENGTH = 4
const KEY_LENGTH = 9

const LOCK_FILES = new Set(
  'package-lock.json,npm-shrinkwrap.json,pnpm-lock.yaml,go.sum,packages.lock.json,bun.lockb,gradle.lockfile'.split(
    ',',
  ),
)
const LEFT_OUT =
  /(?:^|\/)(?:node_modules|vendor|third_party|dist)\/|\.(?:lock|map)$|\.(?:pb|generated)\.[^/]*$|_pb2(?:_grpc)?\.pyi?$|[.-]min\.[a-z]+$/i

/** The line in the form in which lines are compared; null for one that is not effective. */
export function effectiveLine(text: string): string | null {
  if (text.length > MAX_LENGTH) return null
  const trimmed = text.trim()
  // most lines need neither: a replacement takes ten times as long as a test
  const spaced = /\s\s|[^\S ]/.test(trimmed) ? trimmed.replace(/\s+/g, ' ') : trimmed
  const plain = /['`‘’“”]/.test(spaced) ? spaced.replace(/['`‘’“”]/g, '"') : spaced
  return plain.length >= MIN_LENGTH && /[\p{L}\p{N}]/u.test(plain) ? plain : null
}

export const UNKNOWN_ENDS = 0

/**
 * The first and the last character of an effective line, as a number: the same for texts of the same line, where they are ASCII.
 * Most lines differ there, and it takes a tenth of the time.
 */
export function endsOf(text: string, start = 0, stop = text.length): number {
  let [from, to] = [start, stop - 1]
  while (from < to && isSpace(text.charCodeAt(from))) from += 1
  while (from < to && isSpace(text.charCodeAt(to))) to -= 1
  const [first, last] = [endsMask(text.charCodeAt(from)), endsMask(text.charCodeAt(to))]
  return first === UNKNOWN_ENDS || last === UNKNOWN_ENDS ? UNKNOWN_ENDS : first * 128 + last
}

const [TAB, RETURN, SPACE, LAST_ASCII] = [9, 13, 32, 126]
const [DOUBLE, SINGLE, BACK] = [34, 39, 96]
const isSpace = (code: number) => code === SPACE || (code >= TAB && code <= RETURN)
const endsMask = (code: number): number => {
  if (!(code <= LAST_ASCII)) return UNKNOWN_ENDS
  return code === SINGLE || code === BACK ? DOUBLE : code
}

/** Whether the lines of a file count, by its name. */
export const isCountedFile = (path: string): boolean =>
  !LEFT_OUT.test(path) && !LOCK_FILES.has(path.slice(path.lastIndexOf('/') + 1))

/** A hash of an effective line, 9 characters. */
export const lineKey = (plain: string): string =>
  Bun.hash.xxHash3(plain).toString(36).padStart(KEY_LENGTH, '0').slice(-KEY_LENGTH)

/** The keys of the effective lines among these. */
export const lineKeys = (lines: readonly string[]): string[] =>
  lines.flatMap((line) => {
    const plain = effectiveLine(line)
    return plain === null ? [] : lineKey(plain)
  })

export const splitKeys = (keys: string): string[] =>
  Array.from({ length: keys.length / KEY_LENGTH }, (_, at) =>
    keys.slice(at * KEY_LENGTH, (at + 1) * KEY_LENGTH),
  )
