// Writes the inbox of telemetry to sessions, in the background.

import { mergeFragments } from '../../analysis/fragments/merge.ts'
import type { SessionFragments } from '../../analysis/records/fragments.ts'
import type { Pricer } from '../../analysis/scoring/prices.ts'
import { ApiError, messageOf } from '../../base/errors.ts'
import type { Log } from '../../base/log.ts'
import { repeat } from '../../base/timing.ts'
import type { Sql } from '../../database/client.ts'
import { findFirstKeptDay } from '../../features/sessions/deleted-queries.ts'
import type { PreparedSession } from '../../features/sessions/prepare.ts'
import { telemetrySession } from '../../features/sessions/writing/telemetry.ts'
import type { EnqueueWrite } from '../../http/queues/gate.ts'
import { createPlaces } from '../../http/queues/places.ts'
import { findLeft, InboxChanged, type InboxSession, listSessions, readInbox } from '../sync/inbox-write.ts'
import { noteBeyond, type SyncDeps, storeInbox } from '../sync/write.ts'
import type { Intake } from './messages.ts'

interface DrainOptions {
  delayMs: number
  /** The time that it may take to write all that waits of an organization. */
  workMs: number
  enqueueWrite: EnqueueWrite
  pauseOf: (orgId: string) => () => Promise<void> | undefined
}

/** Sessions that are written in one transaction: the others wait less long than for all. */
const SESSIONS = 16
/** A drain that is due while one runs is tried again at this interval. */
const AGAIN_MS = 100
/** Requests of an organization that wait for room at most. */
const REQUESTS = 2_000
/** The time to write a session, until the first drain has ended. */
const SESSION_MS = 50

interface Inbox {
  /** Sessions that no drain has begun to write, each with what frees its room. */
  waiting: Map<string, () => void>
  timer: ReturnType<typeof setTimeout> | undefined
  /** Ends with the drain that runs. */
  over: Promise<void> | undefined
  /** Time that the organization's last drain took for each session, at first that of any organization. */
  sessionMs: number
}

/** Writes what is in the inbox of telemetry to its sessions, organization by organization. */
export function createDrains(deps: SyncDeps, { delayMs, workMs, enqueueWrite, pauseOf }: DrainOptions) {
  const inboxes = new Map<string, Inbox>()
  const stopping = new AbortController()
  const room = createPlaces({
    total: Infinity,
    each: workMs,
    waiting: REQUESTS,
    what: 'sessions of telemetry',
  })
  let sessionMs = SESSION_MS
  const inboxOf = (orgId: string): Inbox => {
    const inbox = inboxes.get(orgId) ?? { waiting: new Map(), timer: undefined, over: undefined, sessionMs }
    inboxes.set(orgId, inbox)
    return inbox
  }

  const drain = async (orgId: string, inbox: Inbox) => {
    const beganMs = performance.now()
    const begun = inbox.waiting
    inbox.waiting = new Map()
    const free = (ids: Iterable<string>) => {
      for (const id of ids) {
        begun.get(id)?.()
        begun.delete(id)
      }
    }
    try {
      const sessions = await listSessions(deps.sql, orgId)
      // at least once, for requests that tell of no session
      for (let start = 0; start === 0 || start < sessions.length; start += SESSIONS) {
        const some = sessions.slice(start, start + SESSIONS)
        const write = () => drainSome(deps, orgId, some, pauseOf(orgId))
        let isAll = false
        while (!isAll && !stopping.signal.aborted) isAll = await enqueueWrite(orgId, write, stopping.signal)
        free(some)
      }
      if (sessions.length > 0) sessionMs = (performance.now() - beganMs) / sessions.length
      inbox.sessionMs = sessionMs
    } catch (error) {
      if (!stopping.signal.aborted) deps.onDrainFailed?.(orgId, error)
    }
    free([...begun.keys()])
    inbox.over = undefined
    if (inbox.timer === undefined && inbox.waiting.size === 0) inboxes.delete(orgId)
  }
  const note = (orgId: string, afterMs = delayMs) => {
    const inbox = inboxOf(orgId)
    if (stopping.signal.aborted || (inbox.timer !== undefined && afterMs > 0)) return
    clearTimeout(inbox.timer)
    const begin = () => {
      inbox.timer = undefined
      if (inbox.over !== undefined) note(orgId, AGAIN_MS)
      else inbox.over = drain(orgId, inbox)
    }
    inbox.timer = setTimeout(begin, afterMs)
  }
  return {
    /** Drains the organization's inbox after `delayMs`, or `afterMs`; calls until then are one. */
    note,
    /** Waits until the organization has room for what a request says of these sessions. Throws 503 when that takes too long. */
    async ready(orgId: string, sessions: readonly string[], signal: AbortSignal): Promise<void> {
      const ofOrganization = inboxOf(orgId)
      const fresh = sessions.filter((id) => !ofOrganization.waiting.has(id))
      if (fresh.length > 0) {
        const units = Math.min(workMs, Math.ceil(fresh.length * ofOrganization.sessionMs))
        const free = await room.take(orgId, units, { units: 1, signal, waitMs: 2 * workMs })
        const { waiting } = inboxOf(orgId)
        let left = fresh.length
        for (const id of fresh) {
          const before = waiting.get(id)
          waiting.set(id, () => {
            before?.()
            left -= 1
            if (left === 0) free()
          })
        }
      }
      // also in case the request ends before it is stored
      note(orgId)
    },
    /** Begins no other drain and waits for those that run; what they leave, another instance or the next start writes. */
    async stop(): Promise<void> {
      stopping.abort()
      room.stop()
      for (const { timer } of inboxes.values()) clearTimeout(timer)
      await Promise.all([...inboxes.values()].map(({ over }) => over))
    },
  }
}

/** Writes rows of these sessions, and of requests. False where rows of them are left. */
async function drainSome(
  deps: SyncDeps,
  orgId: string,
  ids: readonly string[],
  pause: () => Promise<void> | undefined,
): Promise<boolean> {
  const { isAll, ...rows } = await readInbox(deps.sql, orgId, ids)
  if (rows.ids.length === 0) return true
  const options = {
    pricer: await deps.pricer(),
    storeContent: deps.storeContent,
    firstDay: await findFirstKeptDay(deps.sql, orgId, deps.now()),
  }
  const onBeyond = noteBeyond(deps, orgId)
  const sessions: PreparedSession[] = []
  const bySession = Map.groupBy(rows.sessions, ({ session }) => session)
  for (const [index, [id, parts]] of [...bySession].entries()) {
    await pause()
    try {
      sessions.push(sessionOf(id, parts, `sessions[${index}]`, options))
    } catch (error) {
      if (!(error instanceof ApiError) || !/^(VALIDATION_ERROR|TOO_LARGE)$/.test(error.code)) throw error
      onBeyond(id)
    }
  }
  try {
    await storeInbox(deps, orgId, sessions, rows, pause)
  } catch (error) {
    // rows that are left then are found by the next drain
    if (!(error instanceof InboxChanged)) throw error
    return true
  }
  return isAll
}

/** The session that its rows tell of: those of days that are kept, where there are any. */
function sessionOf(
  id: string,
  sent: readonly InboxSession[],
  field: string,
  { firstDay = '', ...options }: { pricer: Pricer; storeContent: boolean; firstDay: string | undefined },
): PreparedSession {
  const email = sent.find((row) => row.email !== null)?.email ?? null
  const rows = sent.filter((row) => !row.bound || row.email === email)
  const all = rows.map((row) => JSON.parse(row.parts) as SessionFragments)
  const recent = all.filter(({ telemetry }) => (telemetry?.from ?? '') >= firstDay)
  const merged = (recent.length > 0 ? recent : all).reduce(mergeFragments)
  const project = rows.find((row) => row.project !== null)?.project ?? null
  return telemetrySession(merged, { id, project_name: project, user_email: email }, field, options)
}

/** Rows are left over after 3 s: with these and the drain they are written within 5 s of the answer. */
const WATCH_MS = 1_000

/** Looks every second for telemetry that an instance left in the inbox when it ended, and has it written. */
export const watchInbox = (sql: Sql, intake: Pick<Intake, 'drain'>, log: Log) =>
  repeat(async () => {
    try {
      const orgIds = await findLeft(sql)
      if (orgIds.length > 0) intake.drain(orgIds)
    } catch (error) {
      log.debug('the inbox of telemetry cannot be read', { error: messageOf(error) })
    }
  }, WATCH_MS)
