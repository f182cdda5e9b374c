// Selects the files that a run reads: those that changed since the server answered for all of their sessions.

import type { Source } from '../../analysis/agents/discover.ts'
import type { DetectedFormat } from '../../analysis/agents/file-format.ts'
import type { KnownFile } from '../../analysis/agents/known-files.ts'
import type { SourceResult } from '../../analysis/agents/read-sessions.ts'
import type { LimitRecord } from '../../analysis/records/plan.ts'
import type { SyncRecord } from '../../analysis/records/records.ts'
import { VERSION } from '../../base/version.ts'
import type { SessionUser } from '../client/find-user.ts'
import type { StateOfSession, SyncState } from '../client/sync-state.ts'
import type { Context } from '../command/context.ts'
import type { SyncOptions } from './options.ts'

interface Selection {
  /** Leaves out files that were last written before this time, ms since 1970. */
  sinceMs?: number | undefined
  /** Leaves out sessions that were written to within this time, unless they were last sent `GROWING` times as long ago. */
  settledMs?: number | undefined
  /** Whether sessions that were deleted at the server are stored again: all are sent, since only the server knows which. */
  restore?: boolean
}

interface Group {
  sources: readonly Source[]
  records: string[]
  open: Set<string>
  /** The time of the last of the limits that its last file states. */
  limited?: string | undefined
}

/** A growing session is sent after ten times the quiet that makes it settled: after 30 s of quiet, every 5 min. */
const GROWING = 10
/** Raised where the readers take more of the same files. From 2 on they take what agents write on a call beside its tokens, from 3 on limits. */
const READERS = 3
/** A refused record is sent again after a day: the reason may lie with the server. */
const REFUSED_AGAIN_MS = 86_400_000

/** `how`: what else decides on the records of a file, as version and options. `state` is undefined in the local database. */
export function createIncremental(
  state: SyncState | undefined,
  how: string,
  { sinceMs, settledMs, restore = false }: Selection,
) {
  const waiting = new Map<string, Group[]>()
  /** Names the group of a limit that is the last of its group. */
  const lastLimits = new Map<LimitRecord, string>()
  const limitedOf = (sources: readonly Source[]) => sources.at(-1)?.look?.before?.limited
  const again = { files: 0 }
  const leftOut = { unchanged_files: 0, growing_files: 0, older_files: 0, sessions: 0, refused: 0 }

  const close = ({ sources, records, limited }: Group) => {
    for (const [index, source] of sources.entries()) {
      const file = fileOf(source)
      const ofSource = index === sources.length - 1 ? records : []
      if (file !== undefined)
        state?.set('files', source.path, {
          ...{ ...file, done: how, readers: READERS, records: ofSource },
          ...(limited !== undefined && index === sources.length - 1 && { limited }),
        })
    }
  }
  const answered = (id: string) => {
    for (const group of waiting.get(id) ?? []) {
      group.open.delete(id)
      if (group.open.size === 0) close(group)
    }
    waiting.delete(id)
  }
  const keysOf = (sources: readonly Source[]) =>
    sources
      .flatMap(({ look }) => look?.before?.records ?? [])
      .flatMap((id) => state?.get('sessions', id) ?? [])
  // the server would not keep a skipped session the next time either
  const isTriedAgain = ({ refused, skipped, at }: StateOfSession) =>
    skipped === undefined && refused !== undefined && Date.now() - Date.parse(at) > REFUSED_AGAIN_MS
  // a run that knew more, as who pays, has told it
  const isDone = (file: KnownFile | undefined) =>
    file?.done === how || file?.done?.startsWith(`${how} `) === true
  const isUnchanged = (sources: readonly Source[]) =>
    !restore &&
    sources.every(({ look }) => look?.change === 'same' && isDone(look.before)) &&
    !keysOf(sources).some(isTriedAgain)
  const isOfEarlierReaders = ({ look }: Source) =>
    look?.before?.done != null && look.before.readers !== READERS
  const isGrowing = (sources: readonly Source[], quietMs: number) => {
    const writtenMs = Math.max(...sources.map(({ look }) => look?.now.mtimeMs ?? 0))
    if (Date.now() - writtenMs >= quietMs) return false
    const sent = keysOf(sources).map(({ at }) => Date.parse(at))
    const started = sources.map(({ startedAt }) => Date.parse(startedAt)).filter((ms) => !Number.isNaN(ms))
    const lastMs = sent.length > 0 ? Math.max(...sent) : Math.min(...started)
    return Date.now() - lastMs < quietMs * GROWING
  }
  return {
    /** Numbers of files that are not read, as the summary has them, and the sessions of those that are unchanged. */
    leftOut,
    /** Number of files that are read only because the readers take more of them. */
    again,
    memory: {
      find: (path: string) => state?.get('files', path),
      keep: (path: string, file: KnownFile) => state?.set('files', path, file),
    },
    isLeftOut(sources: readonly Source[]): boolean {
      const isOlder =
        sinceMs !== undefined && sources.every(({ look }) => look !== undefined && look.now.mtimeMs < sinceMs)
      if (isOlder) leftOut.older_files += sources.length
      else if (isUnchanged(sources)) {
        const sessions = keysOf(sources)
        leftOut.unchanged_files += sources.length
        leftOut.sessions += sessions.length
        leftOut.refused += sessions.filter(({ refused }) => refused !== undefined).length
      } else if (settledMs !== undefined && isGrowing(sources, settledMs))
        leftOut.growing_files += sources.length
      else {
        again.files += sources.filter(isOfEarlierReaders).length
        return false
      }
      return true
    },
    /** A group of files was read; these of its records will be answered for. */
    expect({
      sources,
      records,
      limits,
      isOpen,
    }: Pick<SourceResult, 'sources' | 'records' | 'limits' | 'isOpen'>) {
      // an open group is read again each time
      if (sources.length === 0 || isOpen) return
      const ids = records.map(({ id }) => id)
      const lastLimit = limits.at(-1)
      const group = {
        sources,
        records: ids,
        open: new Set(ids),
        limited: lastLimit?.at ?? limitedOf(sources),
      }
      if (lastLimit !== undefined) {
        const id = `limits ${sources[0]?.path}`
        group.open.add(id)
        lastLimits.set(lastLimit, id)
      }
      for (const id of group.open) waiting.set(id, [...(waiting.get(id) ?? []), group])
      if (group.open.size === 0) close(group)
    },
    /** The limits of a group that were not sent yet. */
    newLimits: ({ sources, limits }: Pick<SourceResult, 'sources' | 'limits'>): LimitRecord[] => {
      const since = limitedOf(sources) ?? ''
      return limits.filter(({ at }) => at > since)
    },
    /** The server has answered for a record. */
    accept(record: SyncRecord) {
      if (record.type === 'session') answered(record.id)
      else if (record.type === 'limit') answered(lastLimits.get(record) ?? '')
    },
    refuse(record: SyncRecord, reason: string) {
      // an earlier server takes no limits
      if (record.type === 'limit') answered(lastLimits.get(record) ?? '')
      if (record.type !== 'session') return
      const hash = ''
      const at = new Date().toISOString()
      state?.set('sessions', record.id, { hash, at, agent: record.source ?? 'unknown', refused: reason })
      answered(record.id)
    },
  }
}

export type Incremental = ReturnType<typeof createIncremental>

/** Returns the facts about a file that was read. */
function fileOf({ look, ids, ...source }: Source): KnownFile | undefined {
  if (look === undefined) return undefined
  // a folder is recognized by what is in it
  const { format, layout, sessionId, startedBy, startedAt, isBackground } = source
  const detected: DetectedFormat =
    layout === 'folder'
      ? { kind: 'other' }
      : { kind: 'sessions', format: format.name, layout, sessionId, startedBy, startedAt, isBackground }
  return { ...look.now, detected, ids }
}

/** The selection of a run by its options; a file is read again when what decides on its records has changed. */
export function incrementalOf(
  {
    context,
    options,
    user,
    onPlans,
  }: {
    context: Context
    options: SyncOptions
    user: SessionUser | undefined
    onPlans: readonly string[]
  },
  state: SyncState | undefined,
) {
  const { project, projectFrom, content, reassign, since, settled, restore } = options
  const decisive = [
    VERSION,
    READERS,
    project,
    projectFrom,
    user?.email,
    content,
    reassign,
    context.config.modelPrices?.prices,
  ]
  const how = Bun.hash.xxHash3(JSON.stringify(decisive.map((value) => value ?? null))).toString(36)
  return createIncremental(state, [how, ...onPlans].join(' '), {
    sinceMs: since,
    settledMs: settled,
    restore: restore === true,
  })
}
