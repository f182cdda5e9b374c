import { cleanRecords } from '../detection/record-secrets.ts'
import type { SessionRecord } from '../records/session.ts'
import { agentOf, discover, type Source } from './discover.ts'
import { readClaudeCode } from './formats/claude-code.ts'
import { readClaudeStream } from './formats/claude-stream.ts'
import { readCodex } from './formats/codex.ts'
import { readGemini } from './formats/gemini.ts'
import { readOpencode } from './formats/opencode.ts'
import { readOpencodeDatabase, readOpencodeFolder } from './formats/opencode-storage.ts'
import type { Unreadable } from './session/json-lines.ts'
import {
  type FileReading,
  type LineOwners,
  newFileReading,
  newReading,
  noteUnreadable,
  type Reading,
  type Usage,
  usageOf,
} from './session/reading.ts'
import { composeRecord, type RecordOptions } from './session/record.ts'
import type { Format } from './session/session-model.ts'

export interface ReadOptions extends RecordOptions {
  /** Bytes read so far of all, and the file they are from. */
  onProgress?: (bytesRead: number, bytesTotal: number, file: string) => void
  /** A file that looks like an agent's but cannot be read: to be named. */
  onSkipped?: (path: string, reason: string) => void
  /** A file without sessions: to be counted. */
  onIgnored?: (path: string) => void
}

/** What one file (or OpenCode storage folder) held. */
export interface SourceResult {
  path: string
  format: Format
  /** A session that stands in several files comes once, with the last of them. */
  records: SessionRecord[]
  unreadable: Unreadable[]
  /** All of them, also those beyond the 10,000 listed. */
  unreadableCount: number
  usage: Usage
  /** Of the records given here. */
  unpricedModels: string[]
}

/**
 * Reads what coding agents left below the paths, told apart by content. Streams: one group of files that share sessions is
 * in memory at a time, as counts, not as text. A line that cannot be read is named and never stops the rest. The same
 * files give the same records. A path that does not exist is an OperatorError.
 */
export async function* readSessions(
  paths: readonly string[],
  options: ReadOptions,
): AsyncGenerator<SourceResult> {
  const { groups, ignored, skipped } = await discover(paths)
  for (const { path, reason } of skipped) options.onSkipped?.(path, reason)
  for (const path of ignored) options.onIgnored?.(path)
  const total = groups.flat().reduce((sum, source) => sum + source.bytes, 0)
  const owners: LineOwners = new Map()
  let read = 0
  for (const group of groups) {
    const agentFiles = new Set(group.flatMap((source) => agentOf(source.path) ?? []))
    const reading = newReading(owners, options.content === true, agentFiles)
    const files: { source: Source; file: FileReading }[] = []
    for (const source of group) {
      const file = newFileReading(source.path, reading, (count) => {
        read += count
        options.onProgress?.(Math.min(read, total), total, source.path)
      })
      if (await readSource(source, file, options)) files.push({ source, file })
    }
    await reading.scan.flush()
    yield* resultsOf(reading, files, options)
  }
}

/** False when the file turned out to hold no sessions. */
async function readSource(source: Source, file: FileReading, options: ReadOptions): Promise<boolean> {
  try {
    return await readAs(source, file, options)
  } catch (error) {
    // the file changed or vanished while it was read; the others go on
    const reason = error instanceof Error ? error.message : String(error)
    noteUnreadable(file, 1, `reading stopped: ${reason}`)
    return true
  }
}

async function readAs(source: Source, file: FileReading, options: ReadOptions): Promise<boolean> {
  const sessionId = source.sessionId ?? (await standInId(source))
  switch (source.format) {
    case 'claude-code':
      await readClaudeCode(file, { sessionId, forced: source.forced })
      return true
    case 'claude-stream-json':
      await readClaudeStream(file)
      return true
    case 'codex':
      await readCodex(file, sessionId)
      return true
    case 'gemini':
      await readGemini(file, sessionId, source.layout === 'document')
      return true
    case 'opencode':
      if (source.layout === 'folder') await readOpencodeFolder(file)
      else if (source.layout === 'objects') await readOpencode(file)
      else if (!(await readOpencodeDatabase(file))) {
        options.onSkipped?.(source.path, 'not a format we read (SQLite)')
        return false
      }
      return true
  }
}

// A file whose session has no id is known by its first kilobytes: they stay when it grows, moves, or is renamed.
async function standInId(source: Source): Promise<string> {
  if (source.layout === 'folder' || source.layout === 'database') return ''
  const head = await Bun.file(source.path).slice(0, 1024).text()
  const firstLine = head.split('\n')[0] ?? ''
  return `unnamed-${new Bun.CryptoHasher('sha256').update(firstLine).digest('hex').slice(0, 24)}`
}

async function* resultsOf(
  reading: Reading,
  files: readonly { source: Source; file: FileReading }[],
  options: ReadOptions,
): AsyncGenerator<SourceResult> {
  const records: SessionRecord[] = []
  const unpriced = new Set<string>()
  const last = files.at(-1)?.file
  for (const session of reading.sessions.values()) {
    const composed = composeRecord(session, options)
    const said = session.prompts.size + session.messages.size > 0
    if (composed === null && said && last !== undefined)
      noteUnreadable(last, 1, `session ${session.id}: no line says when it was`)
    if (composed === null) continue
    // names of branches, files and tools are the user's words too
    records.push(...(await cleanRecords([composed.record])).map(({ record }) => record))
    for (const model of composed.unpriced) unpriced.add(model)
  }
  for (const { source, file } of files) {
    const isLast = file === last
    yield {
      path: source.path,
      format: source.format,
      records: isLast ? records : [],
      unreadable: file.unreadable,
      unreadableCount: file.unreadableCount,
      usage: usageOf(file),
      unpricedModels: isLast ? [...unpriced].sort() : [],
    }
  }
}
