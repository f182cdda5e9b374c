// Tells open pages that data changed, by open responses of GET /v1/changes. One look at a time, of one statement for each
// kind of thing, tells all streams of the instance whether their organizations' data have changed and whether their callers
// may still listen: a stream has no timer and no connection of its own.

import { ApiError, busy, tooMany } from '../../base/errors.ts'
import { changePart } from '../../database/org-lock.ts'
import { HttpError } from '../../http/failure.ts'

/** A stream whose caller may not listen any more ends within this and the time of a look. */
const LOOK_MS = 500
/** The least time between two events of a stream. 100 ms more than promised: what a client measures varies. */
const EVENT_GAP_MS = 5_100
const COMMENT_MS = 15_000
const MAX_AGE_MS = 600_000
const MAX_STREAMS = 50
const RETRY_S = 30

const encoder = new TextEncoder()
const COMMENT = encoder.encode(':\n\n')

/** The caller of a stream: a key, or a session of a browser. */
export interface Listener {
  orgId: string
  keyId: string | null
  sessionId: string | null
}

interface Looks {
  /** The version of the organization's data at some moment after the call. */
  readVersion(orgId: string): Promise<string | undefined>
  /** The versions of organizations by id, without those that are gone. */
  readVersions(orgIds: string[]): Promise<ReadonlyMap<string, string>>
  /** The keys and sessions among these that have not ended. */
  findKeys(ids: string[]): Promise<Lasting[]>
  findSessions(ids: string[]): Promise<Lasting[]>
  /** Milliseconds from any beginning, never set back. */
  clock(): number
}

/** `expiresInMs` is null for what never expires. */
type Lasting = { id: string; expiresInMs: number | null }

interface Stream extends Listener {
  controller: ReadableStreamDefaultController<Uint8Array>
  /** The change that the client knows of. */
  change: string
  openedAt: number
  eventAt: number
  commentAt: number
}

const isLive = ({ expiresInMs }: Lasting) => expiresInMs === null || expiresInMs > 0
const idsOf = (ids: (string | null)[]) => [...new Set(ids.filter((id) => id !== null))]

/** The streams of one instance. */
export function createChangeStreams({ readVersion, readVersions, findKeys, findSessions, clock }: Looks) {
  const streams = new Set<Stream>()
  let timer: ReturnType<typeof setInterval> | undefined
  let isLooking = false
  let isStopped = false

  const forget = (stream: Stream) => {
    streams.delete(stream)
    if (streams.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  const end = (stream: Stream) => {
    forget(stream)
    stream.controller.close()
  }

  /** Sends what is due, to streams that were open before the look. */
  const look = async (open: readonly Stream[]) => {
    const [versions, ...sessions] = await Promise.all([
      readVersions(idsOf(open.map(({ orgId }) => orgId))),
      findKeys(idsOf(open.map(({ keyId }) => keyId))),
      findSessions(idsOf(open.map(({ sessionId }) => sessionId))),
    ])
    const live = sessions.map((some) => new Set(some.filter(isLive).map(({ id }) => id)))
    const now = clock()
    for (const stream of open) {
      if (!streams.has(stream)) continue
      const version = versions.get(stream.orgId)
      const mayListen = live.some((ids) => ids.has(stream.keyId ?? stream.sessionId ?? ''))
      if (version === undefined || !mayListen) end(stream)
      else if (changePart(version) !== stream.change && now - stream.eventAt >= EVENT_GAP_MS) {
        stream.change = changePart(version)
        stream.eventAt = now
        stream.controller.enqueue(
          encoder.encode(`event: change\ndata: ${JSON.stringify({ version: stream.change })}\n\n`),
        )
      }
    }
  }
  const tick = () => {
    const now = clock()
    for (const stream of streams) {
      if (now - stream.openedAt >= MAX_AGE_MS) end(stream)
      else if (now - stream.commentAt >= COMMENT_MS) {
        stream.commentAt = now
        stream.controller.enqueue(COMMENT)
      }
    }
    if (isLooking || streams.size === 0) return
    isLooking = true
    // while the database is away the streams stay open, and the next look tells
    look([...streams])
      .catch(() => {})
      .finally(() => {
        isLooking = false
      })
  }

  const refuse = (orgId: string) => {
    if (isStopped) throw stopping()
    if ([...streams].filter((open) => open.orgId === orgId).length >= MAX_STREAMS)
      throw tooMany(`The organization has ${MAX_STREAMS} open streams of changes here`, RETRY_S)
  }

  return {
    /** A new stream of events until `signal` aborts. Throws 429 above MAX_STREAMS, 503 at a stop, 401. */
    async open(listener: Listener, signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
      const { orgId } = listener
      refuse(orgId)
      // read before the response begins: whatever changes after it is told
      const version = await readVersion(orgId)
      if (version === undefined) throw new ApiError('UNAUTHORIZED', 'The organization was deleted')
      if (signal.aborted) throw stopping()
      refuse(orgId)
      const now = clock()
      let leave = () => {}
      return new ReadableStream<Uint8Array>({
        start(controller) {
          const times = { openedAt: now, eventAt: -Infinity, commentAt: now }
          const stream: Stream = { ...listener, controller, change: changePart(version), ...times }
          leave = () => forget(stream)
          streams.add(stream)
          timer ??= setInterval(tick, LOOK_MS)
          signal.addEventListener('abort', leave)
          // the headers are sent with the first bytes
          controller.enqueue(COMMENT)
        },
        cancel: () => leave(),
      })
    },
    stop() {
      isStopped = true
      for (const stream of streams) end(stream)
    },
    size: () => streams.size,
  }
}

export type ChangeStreams = ReturnType<typeof createChangeStreams>

const stopping = () => new HttpError(busy('The server stops'), { headers: { connection: 'close' } })
