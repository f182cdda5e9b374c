/** Items started in one iteration of the event loop. */
const CHUNK = 8

/**
 * A function that has `start` called for each item, in order, CHUNK of them in each iteration of the event
 * loop. Events of the network and the database are handled in between; starting 64 attempts at once delays
 * them by some 4 ms.
 */
export function startInChunks<Item>(start: (item: Item) => void): (items: readonly Item[]) => void {
  let waiting: Item[] = []
  const startChunk = () => {
    const chunk = waiting.slice(0, CHUNK)
    waiting = waiting.slice(CHUNK)
    // before the calls: `start` may add items
    if (waiting.length > 0) setImmediate(startChunk)
    for (const item of chunk) start(item)
  }
  return (items) => {
    if (items.length === 0) return
    const isIdle = waiting.length === 0
    waiting.push(...items)
    if (isIdle) setImmediate(startChunk)
  }
}
