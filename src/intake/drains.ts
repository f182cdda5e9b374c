import { SYSTEM } from '../audit-log/append.ts'
import { ApiError } from '../errors.ts'
import type { EnqueueWrite } from '../organizations/queue.ts'
import { mergeParts } from '../parts/merge.ts'
import { composeRecord } from '../parts/session-record.ts'
import { packParts, type SessionParts } from '../records/session-parts.ts'
import type { Pricer } from '../scoring/prices.ts'
import { type PreparedSession, prepareSession } from '../sessions/prepare.ts'
import { InboxChanged, type InboxSession, listSessions, readInbox } from '../sync/inbox-write.ts'
import { type SyncDeps, storeBatch } from '../sync/write.ts'

/** Writes what is in the inbox of telemetry to its sessions, organization by organization. */
export interface Drains {
  /** Drains the organization's inbox after `delayMs`, or `afterMs`; calls until then are one. */
  note(orgId: string, afterMs?: number): void
  /** Resolves at once, or at the end of a drain that takes long: what it does not write in time must not grow. */
  ready(orgId: string): Promise<void>
  /** Begins no other drain and waits for those that run; what they leave, another instance or the next start writes. */
  stop(): Promise<void>
}

interface DrainDeps extends SyncDeps {
  /** Told of a drain that failed, whose rows are found again by `findLeft`, and of telemetry that is dropped. */
  onDrainFailed?: (orgId: string, error: unknown) => void
}

interface DrainOptions {
  delayMs: number
  enqueueWrite: EnqueueWrite
  pauseOf: (orgId: string) => () => Promise<void> | undefined
}

/** Sessions that are written in one transaction: the others wait less long than for all. */
const SESSIONS = 16
/** A drain that has run for longer holds up the organization's requests of telemetry. */
const LONG_MS = 2_000
/** A drain that is due while one runs is tried again at this interval. */
const AGAIN_MS = 100

export function createDrains(deps: DrainDeps, { delayMs, enqueueWrite, pauseOf }: DrainOptions): Drains {
  const timers = new Map<string, ReturnType<typeof setTimeout>>()
  const running = new Map<string, { sinceMs: number; over: Promise<void> }>()
  const stopping = new AbortController()

  const drain = async (orgId: string) => {
    try {
      const sessions = await listSessions(deps.sql, orgId)
      // at least once, for requests that tell of no session
      for (let start = 0; start === 0 || start < sessions.length; start += SESSIONS) {
        if (stopping.signal.aborted) break
        const some = sessions.slice(start, start + SESSIONS)
        await enqueueWrite(orgId, () => drainSome(deps, orgId, some, pauseOf(orgId)), stopping.signal)
      }
    } catch (error) {
      if (!stopping.signal.aborted) deps.onDrainFailed?.(orgId, error)
    }
    running.delete(orgId)
  }
  const note = (orgId: string, afterMs = delayMs) => {
    if (stopping.signal.aborted || (timers.has(orgId) && afterMs > 0)) return
    clearTimeout(timers.get(orgId))
    const begin = () => {
      timers.delete(orgId)
      if (running.has(orgId)) note(orgId, AGAIN_MS)
      else running.set(orgId, { sinceMs: performance.now(), over: drain(orgId) })
    }
    timers.set(orgId, setTimeout(begin, afterMs))
  }
  return {
    note,
    async ready(orgId) {
      const run = running.get(orgId)
      if (run !== undefined && performance.now() - run.sinceMs > LONG_MS) await run.over
    },
    async stop() {
      stopping.abort()
      for (const timer of timers.values()) clearTimeout(timer)
      await Promise.all([...running.values()].map(({ over }) => over))
    },
  }
}

/** Writes rows of these sessions, and of requests. */
async function drainSome(
  deps: DrainDeps,
  orgId: string,
  ids: readonly string[],
  pause: () => Promise<void> | undefined,
): Promise<void> {
  const rows = await readInbox(deps.sql, orgId, ids)
  if (rows.ids.length === 0) return
  const options = { pricer: await deps.pricer(), storeContent: deps.storeContent }
  const prepared: PreparedSession[] = []
  const bySession = Map.groupBy(rows.sessions, ({ session }) => session)
  for (const [index, [id, own]] of [...bySession].entries()) {
    await pause()
    const session = sessionOf(id, own, `sessions[${index}]`, options)
    if (session === undefined) tellBeyond(deps, orgId, id)
    else prepared.push(session)
  }
  const store = async (sessions: readonly PreparedSession[]): Promise<void> => {
    try {
      const batch = { records: [], sessions, computed: undefined, pause }
      await storeBatch(deps, orgId, batch, SYSTEM, { inbox: rows })
    } catch (error) {
      // rows that are left then are found by the next drain
      if (error instanceof InboxChanged) return
      // without those whose sums are beyond a record's limits, which would stop the others for ever
      const possible = sessions.filter(({ field }) => !isRefused(error, field))
      if (possible.length === sessions.length) throw error
      for (const { id, field } of sessions) if (isRefused(error, field)) tellBeyond(deps, orgId, id)
      await store(possible)
    }
  }
  await store(prepared)
}

/** Telemetry that a session cannot take is dropped: it would be tried for ever. */
const tellBeyond = ({ onDrainFailed }: DrainDeps, orgId: string, id: string): void =>
  onDrainFailed?.(orgId, new Error(`telemetry of ${id} is dropped: it is beyond the limits of a session`))

/** Whether the error names the session of this `field`. */
const isRefused = (error: unknown, field: string): boolean =>
  error instanceof ApiError &&
  error.code === 'VALIDATION_ERROR' &&
  error.options.details?.some((problem) => problem.field.startsWith(`${field}.`)) === true

/** Composes a session of what its rows say; undefined where that is too large or nothing. */
function sessionOf(
  id: string,
  sent: readonly InboxSession[],
  field: string,
  options: { pricer: Pricer; storeContent: boolean },
): PreparedSession | undefined {
  const email = sent.find((row) => row.email !== null)?.email ?? null
  const rows = sent.filter((row) => !row.bound || row.email === email)
  const all = rows.map((row) => JSON.parse(row.parts) as SessionParts)
  const parts = all.reduce(mergeParts)
  const project = rows.find((row) => row.project !== null)?.project ?? null
  const head = { id, project_name: project, user_email: email }
  const composed = composeRecord(parts, head, options)
  const packed = packParts(parts)
  if (composed === null || packed === undefined) return undefined
  try {
    return prepareSession({ ...composed.record, parts: packed }, field, { ...options, unpacked: parts })
  } catch (error) {
    if (isRefused(error, field)) return undefined
    throw error
  }
}
