import type { Sql } from '../client.ts'

// Lanes are for a PostgreSQL on the same machine. It has a process for each connection, and a process whose next
// statement has already arrived does not have to be woken for it: short statements are therefore sent over few
// connections, the lanes, one behind the other. A slow statement would delay those behind it: it is sent over one of
// the other connections, as one is whose time is not known yet. Some of the others are left to short statements, for
// when all lanes have a slow one. Cursors and statements that may be cancelled belong in transactions, which have
// connections of their own.

/** Statements at most that are sent over a lane and not answered. */
const DEPTH = 8
/** A statement that PostgreSQL works on for longer is slow. */
const SLOW_MS = 50
/** Weight of the latest duration in the moving average: a statement that was late once is not yet slow. */
const LAST_PART = 0.2
/** Slow statements may take this share of the other connections. */
const SLOW_PART = 0.75

/** A statement as the driver makes it: `strings` is the same object for each run of a template, not for `sql.unsafe`. */
type Statement = Promise<unknown> & { readonly strings: readonly string[]; readonly args: readonly unknown[] }
/** Sends a statement by the driver. */
export type Send = (statement: Statement) => void

interface Lane {
  send: Send
  inFlight: number
  /** Time when the statement that is worked on came to the head of the lane, by a monotonic clock. */
  since: number
}

interface Waiting {
  statement: Statement
  shape: string
  otherwise: Send
}

/** Whether a value of a tagged template is a statement, and not a name or a list of values. */
export const isStatement = (value: unknown): value is Statement & { handler: Send } =>
  value instanceof Promise && 'handler' in value && 'strings' in value

/** Numbers of templates, by their strings, and of texts that are no template. */
const numbers = new WeakMap<object, number>()
const numbersOfTexts = new Map<string, number>()
let lastNumber = 0

function numberOf(strings: Statement['strings']): number {
  const number = 'raw' in strings ? numbers.get(strings) : numbersOfTexts.get(strings[0] ?? '')
  if (number !== undefined) return number
  lastNumber += 1
  if ('raw' in strings) numbers.set(strings, lastNumber)
  else numbersOfTexts.set(strings[0] ?? '', lastNumber)
  return lastNumber
}

/** Identifies statements that PostgreSQL plans alike: by the templates that they are made of. */
function shapeOf({ strings, args }: Statement): string {
  let shape = String(numberOf(strings))
  for (const arg of args) if (isStatement(arg)) shape += `,${shapeOf(arg)}`
  return shape
}

/** Shapes whose time is known at most: there are some hundreds. */
const MAX_SHAPES = 10_000

/** `pools` have one connection each; `others` is how many connections the statements have that are sent otherwise. */
export function createLanes(pools: readonly Sql[], others: number) {
  const lanes = pools.map((sql): Lane => {
    // never sent
    const query: unknown = sql``
    if (!isStatement(query)) throw new Error('the driver makes its statements in another way')
    return { send: query.handler, inFlight: 0, since: 0 }
  })
  const mostSlow = Math.max(1, Math.floor(others * SLOW_PART))
  /** Milliseconds that a statement of each shape is expected to take. */
  const expected = new Map<string, number>()
  const waiting: Waiting[] = []
  const slowWaiting: Waiting[] = []
  let othersInFlight = 0
  let timer: ReturnType<typeof setTimeout> | undefined

  const note = (shape: string, ms: number) => {
    const before = expected.get(shape) ?? ms
    if (expected.size >= MAX_SHAPES) expected.clear()
    expected.set(shape, before + (ms - before) * LAST_PART)
  }
  /** Calls `end` when the statement has ended, which returns its milliseconds, and sends what waits. */
  const watch = ({ statement, shape }: Waiting, end: () => number) => {
    const ended = () => {
      note(shape, end())
      sendWaiting()
    }
    const failed = () => {
      // one that fails at once, without a database, tells nothing; one that reached its time limit does
      const ms = end()
      if (ms > SLOW_MS) note(shape, ms)
      sendWaiting()
    }
    statement.then(ended, failed)
  }
  const hasSlow = ({ inFlight, since }: Lane, now: number) => inFlight > 0 && now - since > SLOW_MS
  const sendOver = (lane: Lane, next: Waiting, now: number) => {
    if (lane.inFlight === 0) lane.since = now
    lane.inFlight += 1
    watch(next, () => {
      const endedAt = performance.now()
      const ms = endedAt - lane.since
      lane.since = endedAt
      lane.inFlight -= 1
      return ms
    })
    lane.send(next.statement)
  }
  /** False: `most` of the other connections are taken. */
  const trySendOtherwise = (next: Waiting, most: number): boolean => {
    if (othersInFlight >= most) return false
    const now = performance.now()
    othersInFlight += 1
    watch(next, () => {
      othersInFlight -= 1
      return performance.now() - now
    })
    next.otherwise(next.statement)
    return true
  }
  /** False: it has to wait. */
  const trySend = (next: Waiting): boolean => {
    const now = performance.now()
    let best: Lane | undefined
    let haveAllSlow = true
    for (const lane of lanes) {
      if (hasSlow(lane, now)) continue
      haveAllSlow = false
      if (lane.inFlight < (best?.inFlight ?? DEPTH)) best = lane
    }
    if (best === undefined) return haveAllSlow && trySendOtherwise(next, others)
    sendOver(best, next, now)
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
    // a lane whose statement turns out to be slow is noticed by nothing else
    timer ??= setTimeout(() => {
      timer = undefined
      sendWaiting()
    }, SLOW_MS)
  }
  return {
    /** Sends a statement over a lane; by `otherwise` when it is a slow one, or when all lanes have one. */
    send(statement: Statement, otherwise: Send) {
      const shape = shapeOf(statement)
      const isShort = (expected.get(shape) ?? Infinity) <= SLOW_MS
      const queue = isShort ? waiting : slowWaiting
      queue.push({ statement, shape, otherwise })
      sendWaiting()
    },
    /** Counts one of the other connections as taken, by a transaction, until the result is called. */
    hold(): () => void {
      othersInFlight += 1
      return () => {
        othersInFlight -= 1
        sendWaiting()
      }
    },
    /** Connections that are taken, and statements that wait for one. */
    load: (): { used: number; waiting: number } => ({
      used: lanes.filter(({ inFlight }) => inFlight > 0).length + Math.min(othersInFlight, others),
      waiting: waiting.length + slowWaiting.length + Math.max(0, othersInFlight - others),
    }),
  }
}

export type Lanes = ReturnType<typeof createLanes>
