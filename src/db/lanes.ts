import type { Sql } from './client.ts'

// Short statements go over few connections, one behind the other, where PostgreSQL shares the machine: a process of its
// that finds the next statement waiting goes on, while one of many has to be woken for each. With as many of these
// connections, the lanes, as processors, pages of sessions take half of the time. A slow statement would hold up those
// behind it: it goes over one of the other connections, as one does whose time is not known yet. Some of them are left to
// short statements, for when all lanes are held up.

/** Statements at most that are sent over a lane and not answered. */
const DEPTH = 8
/** A statement that PostgreSQL works on for longer is slow. */
const SLOW_MS = 50
/** Of the average time of a statement, the part that its last run makes: one that was late once is not yet slow. */
const LAST_PART = 0.2

/** A statement as the driver makes it: `strings` is the same object for each run of a template. */
type Statement = Promise<unknown> & { readonly strings: object }
/** What the driver sends a statement with. */
export type Send = (statement: Statement) => void

interface Lane {
  send: Send
  inFlight: number
  /** When the statement that is worked on came to the head of the lane, by a monotonic clock. */
  since: number
}

export interface Lanes {
  /** Sends a statement over a lane; by `otherwise` when it is a slow one, or when all lanes are held up. */
  send(statement: Statement, otherwise: Send): void
}

interface Waiting {
  statement: Statement
  otherwise: Send
}

/** Whether a value of a tagged template is a statement, and not a name or a list of values. */
export const isStatement = (value: unknown): value is Statement & { handler: Send } =>
  value instanceof Promise && 'handler' in value && 'strings' in value

/** `pools` have one connection each; `others` is how many connections the statements have that are sent otherwise. */
export function createLanes(pools: readonly Sql[], others: number): Lanes {
  const lanes = pools.map((sql): Lane => {
    // never sent
    const query: unknown = sql``
    if (!isStatement(query)) throw new Error('the driver makes its statements in another way')
    return { send: query.handler, inFlight: 0, since: 0 }
  })
  const mostSlow = Math.max(1, others - pools.length)
  /** Milliseconds that each statement took. */
  const averages = new WeakMap<object, number>()
  const waiting: Waiting[] = []
  const slowWaiting: Waiting[] = []
  let othersInFlight = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const note = ({ strings }: Statement, ms: number) => {
    const average = averages.get(strings) ?? ms
    averages.set(strings, average + (ms - average) * LAST_PART)
  }
  const isHeldUp = ({ inFlight, since }: Lane, now: number) => inFlight > 0 && now - since > SLOW_MS
  const sendOver = (lane: Lane, statement: Statement, now: number) => {
    if (lane.inFlight === 0) lane.since = now
    lane.inFlight += 1
    const end = () => {
      const endedAt = performance.now()
      note(statement, endedAt - lane.since)
      lane.since = endedAt
      lane.inFlight -= 1
      sendWaiting()
    }
    statement.then(end, end)
    lane.send(statement)
  }
  /** False: all other connections are taken, up to `most`. */
  const trySendOtherwise = ({ statement, otherwise }: Waiting, most: number): boolean => {
    if (othersInFlight >= most) return false
    const now = performance.now()
    othersInFlight += 1
    const end = () => {
      note(statement, performance.now() - now)
      othersInFlight -= 1
      sendWaiting()
    }
    statement.then(end, end)
    otherwise(statement)
    return true
  }
  /** False: it has to wait. */
  const trySend = (next: Waiting): boolean => {
    const now = performance.now()
    let best: Lane | undefined
    let areAllHeldUp = true
    for (const lane of lanes) {
      if (isHeldUp(lane, now)) continue
      areAllHeldUp = false
      if (lane.inFlight < (best?.inFlight ?? DEPTH)) best = lane
    }
    if (best === undefined) return areAllHeldUp && trySendOtherwise(next, others)
    sendOver(best, next.statement, now)
    return true
  }
  const trySendSlow = (next: Waiting) => trySendOtherwise(next, mostSlow)
  const sendFirst = (queue: Waiting[], send: (next: Waiting) => boolean) => {
    for (let [next] = queue; next !== undefined && send(next); [next] = queue) queue.shift()
  }
  const sendWaiting = () => {
    sendFirst(waiting, trySend)
    sendFirst(slowWaiting, trySendSlow)
    if (waiting.length === 0) {
      clearTimeout(timer)
      timer = undefined
      return
    }
    // nothing ends when a lane comes to be held up
    timer ??= setTimeout(() => {
      timer = undefined
      sendWaiting()
    }, SLOW_MS)
  }
  return {
    send(statement, otherwise) {
      const isShort = (averages.get(statement.strings) ?? Infinity) <= SLOW_MS
      const queue = isShort ? waiting : slowWaiting
      queue.push({ statement, otherwise })
      sendWaiting()
    },
  }
}
