// A parser for the output of `git log -z --raw -p`. A file name may contain any byte but NUL, and a line of a file any but
// the newline: fields end with NUL, and the head of a hunk says how many lines it has, so that no content is taken for more.

import { ByteReader } from './byte-reader.ts'
import { effectiveLine, isCountedFile, lineKey } from './effective-lines.ts'

export interface AddedLine {
  /** In the file as the commit left it, from 1. */
  number: number
  key: string
  /** Characters that count. */
  size: number
  /** Equal for lines with no line of before between them. */
  run: number
}

export interface LoggedFile {
  path: string
  status: 'added' | 'modified' | 'deleted' | 'renamed'
  previousPath: string | null
  additions: number
  deletions: number
  /** Effective lines that were added; `lines` has them where they were asked for. */
  effective: number
  lines: AddedLine[]
}

export interface LoggedCommit {
  kind: 'commit'
  sha: string
  name: string
  email: string
  /** When it was first made, in ms since 1970: a rebase or a cherry-pick keeps it. */
  authoredMs: number
  /** `Co-Authored-By` and `Assisted-By`. */
  trailers: string
  subject: string
  files: LoggedFile[]
  /** Files beyond the first 100,000. */
  filesLeft: number
  /** False if the clone lacks the contents of the files: then lines are 0 and only exact renames are detected. */
  hasLines: boolean
}

export interface LogReading {
  /** Files that programs write, by whether they are at the branch's end. Others are added while their first lines say so. */
  generated?: Map<string, boolean> | undefined
  /** Whether a commit need not be read where many commits lack the contents of their files. */
  isOptional?: (sha: string) => boolean
  /** Whether the effective lines of a file are wanted, not only their number. */
  wants?: ((commit: LoggedCommit, file: LoggedFile) => boolean) | undefined
}

/** Files of a commit; those after them have no patch that is read either. */
const MAX_FILES = 100_000
export const GENERATED = 'DO NOT EDIT'
/** Lines at the beginning of a file that say that a program writes it. */
export const HEAD_LINES = 10
/** A longer line has no 1,000 characters, in whatever script. */
const MAX_LINE_BYTES = 4_000

const [NUL, START, NEWLINE, AT, COLON, PLUS, MINUS, BACKSLASH] = [0, 1, 10, 64, 58, 43, 45, 92]

export async function* parseLog(
  bytes: AsyncIterable<Uint8Array>,
  hasLines: boolean,
  { generated = new Map(), wants = () => false }: LogReading = {},
): AsyncGenerator<LoggedCommit> {
  const reader = new ByteReader(bytes)
  const field = async () => {
    if (!reader.take(NUL)) await reader.wait(NUL)
    return reader.text()
  }
  let commit: LoggedCommit | undefined
  /** The files in the order of their patches. */
  let patched: LoggedFile[] = []
  let next = 0
  let file: OpenFile | undefined
  for (;;) {
    const first = reader.first() ?? (await reader.waitForFirst())
    if (first === undefined) break
    if (first === START) {
      if (commit !== undefined) yield commit
      const [sha, name, email, at] = [(await field()).slice(1), await field(), await field(), await field()]
      const [trailers, subject] = [await field(), await field()]
      const head = { sha, name, email, authoredMs: Number(at) * 1_000, trailers, subject }
      commit = { kind: 'commit', ...head, files: [], filesLeft: 0, hasLines }
      patched = []
      next = 0
    } else if (first === NEWLINE || first === NUL) reader.skip()
    else if (first === COLON) {
      const [text, path] = [await field(), await field()]
      const entry = fileOf(text, path)
      if (entry.status === 'renamed') Object.assign(entry, { previousPath: path, path: await field() })
      if (commit !== undefined && commit.files.length >= MAX_FILES) {
        // a tree may name itself any number of times
        commit.filesLeft += 1
        continue
      }
      commit?.files.push(entry)
      patched.push(entry)
      // a link that became a file, or the other way round, has two patches
      if (text.endsWith(' T')) patched.push(entry)
    } else {
      if (!reader.take(NEWLINE)) await reader.wait(NEWLINE)
      const head = reader.text()
      if (first === AT && file !== undefined) await readHunk(reader, head, file, generated)
      else if (head.startsWith('diff --git ')) {
        const entry = patched[next]
        next += 1
        const isCounted = entry !== undefined && isCountedFile(entry.path)
        const isWanted = isCounted && commit !== undefined && wants(commit, entry)
        file = entry && { file: entry, isCounted, isWanted }
      }
    }
  }
  if (commit !== undefined) yield commit
}

/** A file whose patch is read. */
interface OpenFile {
  file: LoggedFile
  isCounted: boolean
  isWanted: boolean
}

/** `@@ -2,0 +3 @@` */
const HUNK = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/

async function readHunk(
  reader: ByteReader,
  head: string,
  { file, isCounted, isWanted }: OpenFile,
  generated: Map<string, boolean>,
): Promise<void> {
  const [, startBefore, before = '1', start, after = '1'] = HUNK.exec(head) ?? []
  let [beforeLeft, afterLeft] = [Number(before), Number(after)]
  let [numberBefore, number] = [Number(startBefore) - 1, Number(start) - 1]
  while (beforeLeft + afterLeft > 0) {
    if (!reader.take(NEWLINE)) await reader.wait(NEWLINE)
    const kind = reader.kind()
    // `\ No newline at end of file`
    if (kind === BACKSLASH) continue
    if (kind !== PLUS) beforeLeft -= 1
    if (kind !== MINUS) afterLeft -= 1
    if (kind !== PLUS) numberBefore += 1
    if (kind !== MINUS) number += 1
    if (kind === MINUS) {
      file.deletions += 1
      const isHead = numberBefore <= HEAD_LINES && generated.get(file.path) === false
      if (isHead && reader.text(1).includes(GENERATED)) generated.delete(file.path)
    }
    if (kind !== PLUS) continue
    file.additions += 1
    if (!isCounted || reader.length() > MAX_LINE_BYTES) continue
    const text = reader.text(1)
    if (number <= HEAD_LINES && text.includes(GENERATED)) mark(generated, file.path)
    const plain = effectiveLine(text)
    if (plain === null) continue
    file.effective += 1
    // the same for added lines that follow one another
    const run = number - file.additions
    if (isWanted) file.lines.push({ number, key: lineKey(plain), size: plain.length, run })
  }
  if (file.previousPath !== null && generated.has(file.previousPath)) mark(generated, file.path)
  if (!generated.has(file.path)) return
  file.effective = 0
  file.lines = []
}

function mark(generated: Map<string, boolean>, path: string): void {
  if (!generated.has(path)) generated.set(path, false)
}

const STATUS: Record<string, LoggedFile['status']> = { A: 'added', C: 'added', D: 'deleted', R: 'renamed' }

/** `:100644 100644 <hash> <hash> R085` */
function fileOf(text: string, path: string): LoggedFile {
  const letter = text.slice(text.lastIndexOf(' ') + 1).charAt(0)
  return {
    path,
    status: STATUS[letter] ?? 'modified',
    previousPath: null,
    additions: 0,
    deletions: 0,
    effective: 0,
    lines: [],
  }
}
