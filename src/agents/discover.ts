import type { Dirent, Stats } from 'node:fs'
import { open, readdir, realpath, stat } from 'node:fs/promises'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { codeOf, OperatorError } from '../errors.ts'
import { type Detected, detect } from './detect.ts'
import { sessionIdsInDatabase, sessionIdsInFolder } from './formats/opencode-storage.ts'
import { ownText } from './session/json.ts'
import type { Format } from './session/session-model.ts'

// Finds the files with sessions below the given paths, and which of them must be read together.

export interface Source {
  path: string
  format: Format
  layout: 'document' | 'lines' | 'objects' | 'database' | 'folder'
  /** The agent's session id in its head or its folder's name. */
  sessionId: string | null
  /** The session of its folder stands over those its lines name. */
  forced: boolean
  startedAt: string
  bytes: number
}

export interface Discovery {
  /** Groups in order of time; the files of a group share sessions. */
  groups: Source[][]
  ignored: string[]
  skipped: { path: string; reason: string }[]
}

const MAX_FILES = 2_000_000
const LEFT_OUT = new Set(['.git', 'node_modules'])
const AGENT_FILE = /^agent-([A-Za-z0-9_-]+)\.jsonl$/
/** Files that agents keep beside their sessions; they hold none. */
const SESSION_FILES = new Set(['.jsonl', '.ndjson', '.json', '.db', '.sqlite', '.vscdb', '.log', '.txt', ''])
const CHUNK = 1024 * 1024
/** The longest id and its key, for one that lies across two chunks. */
const OVERLAP = 512
const SESSION_ID = /"session(?:Id|_id|ID)"\s*:\s*"([^"\\]{1,200})"/g

/** Walks the paths; a path that does not exist is an OperatorError (exit 2). Everything is in order of its name. */
export async function discover(paths: readonly string[]): Promise<Discovery> {
  const found: Discovery & { sources: Source[]; known: Set<string> } = {
    groups: [],
    ignored: [],
    skipped: [],
    sources: [],
    known: new Set(),
  }
  for (const path of paths) {
    const full = resolve(path)
    const stats = await stat(full).catch(() => null)
    if (stats === null) throw new OperatorError(`no such file or folder: ${path}`, 2)
    if (stats.isDirectory()) await walk(full, found)
    else await look(full, stats, found, true)
  }
  return { groups: await grouped(found.sources), ignored: found.ignored, skipped: found.skipped }
}

type Found = Discovery & { sources: Source[]; known: Set<string> }

async function walk(folder: string, found: Found): Promise<void> {
  let entries: Dirent[]
  try {
    entries = await readdir(folder, { withFileTypes: true })
  } catch (error) {
    found.skipped.push({ path: folder, reason: codeOf(error) ?? String(error) })
    return
  }
  entries.sort((a, b) => (a.name < b.name ? -1 : 1))
  const isFolder = (name: string) => entries.some((entry) => entry.name === name && entry.isDirectory())
  if (isFolder('message') && isFolder('part')) {
    const real = await realpath(folder)
    if (!found.known.has(real))
      found.sources.push({
        path: folder,
        format: 'opencode',
        layout: 'folder',
        sessionId: null,
        forced: false,
        startedAt: '',
        bytes: 0,
      })
    found.known.add(real)
    return
  }
  for (const entry of entries) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (!LEFT_OUT.has(entry.name)) await walk(path, found)
      continue
    }
    // a linked file is read, a linked folder is not: it may lead back
    const stats = await stat(path).catch(() => null)
    if (stats === null) found.skipped.push({ path, reason: 'a link that leads nowhere' })
    else if (stats.isFile()) await look(path, stats, found, false)
  }
}

async function look(path: string, stats: Stats, found: Found, isNamed: boolean): Promise<void> {
  const real = await realpath(path)
  if (found.known.has(real)) return
  found.known.add(real)
  if (found.known.size > MAX_FILES) throw new OperatorError(`more than ${MAX_FILES} files`)
  const isPlausible = isNamed || SESSION_FILES.has(extname(path).toLowerCase())
  let detected: Detected
  try {
    detected = isPlausible && stats.isFile() ? await detect(path) : { kind: 'other' }
  } catch (error) {
    found.skipped.push({ path, reason: codeOf(error) ?? String(error) })
    return
  }
  if (detected.kind === 'sessions')
    found.sources.push({ path, bytes: stats.size, ...withFolder(path, detected) })
  else if (detected.kind === 'unknown' && !isCompanion(path))
    found.skipped.push({ path, reason: detected.reason })
  else if (isNamed) found.skipped.push({ path, reason: 'no sessions in it' })
  else found.ignored.push(path)
}

/** `metadata.json`, `DERIVED-index.json`, `sessions-index.json`, `x.state.json`: about sessions, not sessions. */
const isCompanion = (path: string): boolean =>
  /(?:^|[.-])(?:metadata|meta|index|state|settings|summary|package|config|workspace|models)\.json$/i.test(
    basename(path),
  )

function withFolder(
  path: string,
  detected: Extract<Detected, { kind: 'sessions' }>,
): Omit<Source, 'path' | 'bytes'> {
  const { format, layout, sessionId, startedAt } = detected
  const inSubagents = format === 'claude-code' && basename(dirname(path)) === 'subagents'
  const parent = basename(dirname(dirname(path)))
  return { format, layout, startedAt, sessionId: inSubagents ? parent : sessionId, forced: inSubagents }
}

/** The id of the sub-agent whose transcript a file is. */
export function agentOf(path: string): string | null {
  return AGENT_FILE.exec(basename(path))?.[1] ?? null
}

// Files that name a common session belong to one group, so that it is one record however its lines are spread.
async function grouped(sources: readonly Source[]): Promise<Source[][]> {
  const groupOf = new Map<string, Source[]>()
  const groups = new Set<Source[]>()
  for (const source of sources) {
    const keys = [...(await sessionIds(source))].map(
      (id) => `${source.format.replace('stream-json', 'code')} ${id}`,
    )
    const [group = [], ...others] = new Set(
      keys.flatMap((key) => [groupOf.get(key) ?? []].filter(({ length }) => length > 0)),
    )
    group.push(source)
    groups.add(group)
    for (const key of keys) groupOf.set(key, group)
    // a file that joins what was apart until now; rare, so that a walk over all ids does not matter
    for (const other of others) {
      group.push(...other)
      groups.delete(other)
      for (const [key, value] of groupOf) if (value === other) groupOf.set(key, group)
    }
  }
  const sorted = [...groups].map((group) => group.sort((a, b) => compare(a.path, b.path)))
  return sorted.sort(byTime)
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0)

// Of a session and a copy of it that was resumed under a new id, the shorter is the older.
function byTime(a: Source[], b: Source[]): number {
  const start = (group: Source[]) => group.map((source) => source.startedAt).sort()[0] ?? ''
  const size = (group: Source[]) => group.reduce((sum, source) => sum + source.bytes, 0)
  return compare(start(a), start(b)) || size(a) - size(b) || compare(a[0]?.path ?? '', b[0]?.path ?? '')
}

async function sessionIds(source: Source): Promise<Set<string>> {
  const ids = new Set(source.sessionId === null ? [] : [source.sessionId])
  if (source.layout === 'folder') return new Set(await sessionIdsInFolder(source.path))
  if (source.layout === 'database') return new Set(sessionIdsInDatabase(source.path))
  // the other formats hold one session a file, named in its head
  if (source.forced || source.format === 'codex' || source.format === 'gemini') return ids
  const file = await open(source.path, 'r')
  try {
    const buffer = Buffer.allocUnsafe(OVERLAP + CHUNK)
    let kept = 0
    for (;;) {
      const { bytesRead } = await file.read(buffer, kept, CHUNK)
      if (bytesRead === 0) return ids
      const text = buffer.toString('latin1', 0, kept + bytesRead)
      for (const match of text.matchAll(SESSION_ID))
        if (match[1] !== undefined && !ids.has(match[1])) ids.add(ownText(match[1]))
      const tail = Math.min(OVERLAP, kept + bytesRead)
      buffer.copyWithin(0, kept + bytesRead - tail, kept + bytesRead)
      kept = tail
    }
  } finally {
    await file.close()
  }
}
