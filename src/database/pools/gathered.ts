// Joins look-ups of many requests into one statement.

/** Batching window: a statement waits so long at most, while each turn of the event loop brings further requests. */
const MAX_GATHERING_MS = 1

interface Batch<Value> {
  /** The values by id; requests for the same id share the promise. */
  values: Map<string, Promise<Value | undefined>>
  result: PromiseWithResolvers<ReadonlyMap<string, Value>>
}

/**
 * A function that looks one thing up by `find`, which looks many up. One statement at a time looks for all requests that
 * arrived while the one before ran, however many there are. It begins after they arrived, so that whatever was committed
 * before a request arrived is in what the request is given. Undefined where nothing is found; rejects when `find` does.
 */
export function gathered<Value>(
  find: (ids: readonly string[]) => Promise<ReadonlyMap<string, Value>>,
): (id: string) => Promise<Value | undefined> {
  let waiting: Batch<Value> | undefined
  let isRunning = false
  let calls = 0

  const nextTurn = () => new Promise((resolve) => setImmediate(resolve))

  /** Requests of the same turn of the event loop go together, and those of the next turns while there are any. */
  const gather = async (): Promise<void> => {
    const startedAt = performance.now()
    for (let asked = -1; asked !== calls; ) {
      asked = calls
      await nextTurn()
      if (performance.now() - startedAt > MAX_GATHERING_MS) return
    }
  }

  const run = async (): Promise<void> => {
    isRunning = true
    do {
      await gather()
      const batch = waiting
      if (batch === undefined) break
      waiting = undefined
      try {
        batch.result.resolve(await find([...batch.values.keys()]))
      } catch (error) {
        batch.result.reject(error)
      }
    } while (waiting !== undefined)
    isRunning = false
  }

  return (id) => {
    calls += 1
    waiting ??= { values: new Map(), result: Promise.withResolvers() }
    const { values, result } = waiting
    const answer = values.get(id)
    if (answer !== undefined) return answer
    const value = result.promise.then((all) => all.get(id))
    values.set(id, value)
    if (!isRunning) void run()
    return value
  }
}
