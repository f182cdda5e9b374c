// Finds the files with sessions below the given paths, and groups those that must be read together.

import { type Dirent, realpathSync, type Stats } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { extname, join, resolve } from 'node:path'
import { codeOf, messageOf, OperatorError } from '../../base/errors.ts'
import { compareText } from '../../base/text.ts'
import { type DetectedFormat, detectFormat, HEAD_BYTES, isCompanion, NO_HEAD } from './file-format.ts'
import { FORMATS, formatAgent, formatNamed } from './format-list.ts'
import type { Format, HeadFacts } from './formats/format.ts'
import { isPrivate, NOT_REGULAR } from './git/regular-file.ts'
import { type KnownFile, type Look, lookAt, lookAtFolder, statsOf } from './known-files.ts'
import { useDatabase } from './transcript/database.ts'
import { bytesOf } from './transcript/file-bytes.ts'
import { copyText } from './transcript/json.ts'

/** A file before it is read. Its session id may be that of its folder. */
export interface Source extends HeadFacts {
  path: string
  bytes: number
  format: Format
  /** True for a sub-agent's file: its session is that of its folder, whatever session ids its lines contain. */
  sessionFromFolder: boolean
  /** Undefined in a run without memory. */
  look: Look | undefined
  /** The agent's session ids in it, filled before `discover` returns. */
  ids: string[]
}

/** The knowledge of earlier runs about files. */
export interface FileMemory {
  find(path: string): KnownFile | undefined
  /** Keeps what is known of a file, so that it is not opened again. */
  keep(path: string, file: KnownFile): void
}

interface Discovery {
  /** Groups ordered by start time; the files of a group share sessions. */
  groups: Source[][]
  ignored: string[]
  skipped: { path: string; reason: string }[]
}

const MAX_FILES = 2_000_000
const IGNORED_FOLDERS = new Set(['.git', 'node_modules'])
/** Extensions of files that may contain sessions; the last is that of a file without one. */
const SESSION_FILE_EXTENSIONS = new Set('.jsonl,.ndjson,.json,.db,.sqlite,.vscdb,.log,.txt,'.split(','))
/** Ends of the names of packed files. */
const PACKED = /\.(?:gz|zst)$/i
/** Bytes on both sides of the end of a chunk that are searched together: the longest id with its key. */
const OVERLAP = 512
/**
 * Walks the paths in the order of file names. With `memory` a file that is as it was is not opened, and one that grew is
 * searched for sessions from its old end on. Throws OperatorError (exit code 2) for a path that does not exist.
 */
export async function discover(paths: readonly string[], memory?: FileMemory): Promise<Discovery> {
  const files: FoundFiles = { sources: [], ignored: [], skipped: [], realPaths: new Set(), memory }
  for (const path of paths) {
    const full = resolve(path)
    const stats = statsOf(full)
    if (stats === null) throw new OperatorError(`no such file or folder: ${path}`, 2)
    if (stats.isDirectory()) await walk(full, realpathSync(full), files)
    else await inspect(full, realpathSync(full), stats, files, true)
  }
  return { groups: await groupBySession(files.sources), ignored: files.ignored, skipped: files.skipped }
}

interface FoundFiles extends Omit<Discovery, 'groups'> {
  sources: Source[]
  /** Real paths of the files and folders found: a file that is reached twice is read once. */
  realPaths: Set<string>
  memory: FileMemory | undefined
}

/** `real`: the folder's path without links. */
async function walk(folder: string, real: string, files: FoundFiles): Promise<void> {
  let entries: Dirent[]
  try {
    entries = await readdir(folder, { withFileTypes: true })
  } catch (error) {
    files.skipped.push({ path: folder, reason: codeOf(error) ?? messageOf(error) })
    return
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  const has = (name: string) => entries.some((entry) => entry.name === name && entry.isDirectory())
  const format = FORMATS.find((each) => each.folder?.isOf(folder, has))
  if (format !== undefined) {
    if (!files.realPaths.has(real))
      files.sources.push({
        path: folder,
        format,
        layout: 'folder',
        ...NO_HEAD,
        sessionFromFolder: false,
        bytes: 0,
        look: files.memory && (await lookAtFolder(folder, files.memory.find(folder))),
        ids: [],
      })
    files.realPaths.add(real)
    return
  }
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (!IGNORED_FOLDERS.has(entry.name)) await walk(path, join(real, entry.name), files)
      continue
    }
    // symbolic links to files are followed, those to folders are not: they may form a cycle
    const stats = statsOf(path)
    if (stats === null) files.skipped.push({ path, reason: 'a link that leads nowhere' })
    else if (!stats.isDirectory()) {
      const itself = entry.isFile() ? join(real, entry.name) : realpathSync(path)
      await inspect(path, itself, stats, files, false)
    }
  }
}

async function inspect(path: string, real: string, stats: Stats, files: FoundFiles, isNamed: boolean) {
  if (files.realPaths.has(real) || isPrivate(path) || isPrivate(real)) return
  files.realPaths.add(real)
  if (files.realPaths.size > MAX_FILES) throw new OperatorError(`more than ${MAX_FILES} files`)
  if (!stats.isFile()) {
    files.skipped.push({ path, reason: NOT_REGULAR })
    return
  }
  const isPlausible = isNamed || SESSION_FILE_EXTENSIONS.has(extname(path.replace(PACKED, '')).toLowerCase())
  let detected: DetectedFormat = { kind: 'other' }
  let look: Look | undefined
  try {
    if (isPlausible) {
      look = files.memory && lookAt(path, stats, files.memory.find(path))
      detected = formatKnown(look) ?? (await detectFormat(path))
    }
    if (detected.kind === 'sessions')
      files.sources.push({ path, bytes: stats.size, ...withFolder(path, detected), look, ids: [] })
    // sessions that changed are kept once the server has answered
    const kept = detected.kind === 'sessions' ? look?.change === 'same' && look.before : { detected, ids: [] }
    if (look !== undefined && kept && !look.isUntouched) files.memory?.keep(path, { ...kept, ...look.now })
    if (detected.kind === 'sessions') return
  } catch (error) {
    files.skipped.push({ path, reason: codeOf(error) ?? messageOf(error) })
    return
  }
  if (detected.kind === 'unknown' && !isCompanion(path)) files.skipped.push({ path, reason: detected.reason })
  else if (isNamed) files.skipped.push({ path, reason: 'no sessions in it' })
  else files.ignored.push(path)
}

/** The format found before, when the bytes that it was detected by are the same. */
function formatKnown(look: Look | undefined): DetectedFormat | undefined {
  if (look?.before === undefined || look.change === 'other') return undefined
  // an earlier version may have had no reader for it
  if (look.before.detected.kind === 'unknown') return undefined
  return look.change === 'same' || look.before.size >= HEAD_BYTES ? look.before.detected : undefined
}

function withFolder(
  path: string,
  detected: Extract<DetectedFormat, { kind: 'sessions' }>,
): HeadFacts & Pick<Source, 'format' | 'sessionFromFolder'> {
  const format = formatNamed(detected.format)
  const id = format.idOfFolder?.(path) ?? null
  return { ...detected, format, sessionId: id ?? detected.sessionId, sessionFromFolder: id !== null }
}

// Files that contain the same session id belong to one group, so that a session spread over several files is one record.
async function groupBySession(sources: readonly Source[]): Promise<Source[][]> {
  const groupOf = new Map<string, Source[]>()
  const groups = new Set<Source[]>()
  for (const source of sources) {
    // a run's log and a transcript of the same agent may contain the same session
    const agent = formatAgent(source.format)
    const { before, change } = source.look ?? {}
    source.ids = before !== undefined && change === 'same' ? before.ids : [...(await sessionIds(source))]
    let group: Source[] = []
    for (const id of source.ids) {
      const other = groupOf.get(`${agent} ${id}`)
      if (other === undefined || other === group) continue
      if (group.length > 0) {
        // few files join groups, so a pass over all ids for each costs little
        groups.delete(group)
        other.push(...group)
        for (const [key, value] of groupOf) if (value === group) groupOf.set(key, other)
      }
      group = other
    }
    group.push(source)
    groups.add(group)
    for (const id of source.ids) groupOf.set(`${agent} ${id}`, group)
  }
  return inOrder([...groups].map(sortedByOrigin))
}

async function sessionIds(source: Source): Promise<Set<string>> {
  const { before, change } = source.look ?? {}
  const { database, folder, keys, forkedFrom } = source.format
  const allIds = [source.sessionId, source.startedBy, forkedFrom?.(source.path) ?? null]
  const ids = new Set(allIds.filter((id) => id !== null))
  if (source.layout === 'folder') return new Set(await folder?.sessionIds(source.path))
  if (source.layout === 'database') return new Set(await idsInDatabase(source.path, database))
  if (source.sessionFromFolder || keys === undefined) return ids
  const isGrown = before !== undefined && change === 'grown'
  if (isGrown) for (const id of before.ids) ids.add(id)
  const from = isGrown ? Math.max(0, before.size - OVERLAP) : 0
  try {
    let end = Buffer.alloc(0)
    for await (const chunk of bytesOf(source.path, () => {}, from)) {
      const seam = Buffer.concat([end, chunk.subarray(0, OVERLAP)])
      for (const bytes of [seam, chunk]) for (const id of idsIn(bytes, keys)) ids.add(id)
      end = Buffer.concat([end, chunk.subarray(-OVERLAP)]).subarray(-OVERLAP)
    }
  } catch {
    // its sessions up to there are known; why it ends there, its reader says
  }
  return ids
}

/** None when it cannot be read. */
async function idsInDatabase(path: string, database: Format['database']): Promise<string[]> {
  try {
    return await useDatabase(path, (opened) => {
      const ids = new Set<string>()
      for (const id of database?.sessionIds(opened) ?? []) if (typeof id === 'string') ids.add(id)
      ids.delete('')
      return [...ids]
    })
  } catch {
    return []
  }
}

// searches the bytes: to decode a file as text takes four times as long
function* idsIn(bytes: Buffer, keys: NonNullable<Format['keys']>): Generator<string> {
  for (const key of keys) {
    let last = ''
    for (let at = bytes.indexOf(key.start); at !== -1; at = bytes.indexOf(key.start, at + 1)) {
      // most lines repeat the id of the line before
      if (last !== '' && bytes.toString('latin1', at, at + last.length) === last) continue
      const [match = '', id] = key.id.exec(bytes.toString('latin1', at, at + OVERLAP)) ?? []
      if (id === undefined) continue
      last = match
      yield copyText(id)
    }
  }
}

// The order in which files are read: copies of another file's lines come after these.

/** A file may begin with a copy of another: a sub-agent's of its parent's, a fork's of the session that it names. */
function sortedByOrigin(group: readonly Source[]): Source[] {
  const depths = new Map<string | null, number>()
  const depthOf = (id: string | null): number => {
    const known = depths.get(id)
    if (known !== undefined) return known
    // files that name each other are no forks
    depths.set(id, 0)
    const parents = new Set(group.flatMap(({ sessionId, ids }) => (sessionId === id ? ids : [])))
    parents.delete(id ?? '')
    const depth = Math.max(-1, ...[...parents].map(depthOf)) + 1
    depths.set(id, depth)
    return depth
  }
  return group.toSorted(
    (a, b) =>
      Number(a.startedBy !== null) - Number(b.startedBy !== null) ||
      depthOf(a.sessionId) - depthOf(b.sessionId) ||
      compareText(a.path, b.path),
  )
}

/**
 * Sorts groups, each sorted by origin. A resumed session starts with a copy of the original: of two groups with the same start
 * the original is the one that is not in the background, else the shorter.
 */
const inOrder = (groups: readonly Source[][]): Source[][] =>
  groups
    .map(rankOf)
    .sort(
      (a, b) =>
        compareText(a.start, b.start) ||
        Number(a.inBackground) - Number(b.inBackground) ||
        a.size - b.size ||
        compareText(a.group[0]?.path ?? '', b.group[0]?.path ?? ''),
    )
    .map(({ group }) => group)

/** The groups are sorted by these fields. The first times in a fork's file are those of a session that it names. */
const rankOf = (group: Source[]) => {
  const first = group.filter(({ ids }) => ids.length <= (group[0]?.ids.length ?? 0))
  return {
    group,
    start: first.map(({ startedAt }) => startedAt).sort()[0] ?? '',
    inBackground: group.every(({ isBackground }) => isBackground),
    size: group.reduce((sum, source) => sum + source.bytes, 0),
  }
}
