/** In one turn of the event loop. */
const EACH_TURN = 8

/**
 * A function that has `start` called for what it is given, in its order, a few in each turn of the event loop: what comes
 * in from the network and the database is seen to in between, where 64 at once would keep it waiting for some 4 ms.
 */
export function spread<Item>(start: (item: Item) => void): (items: readonly Item[]) => void {
  let waiting: Item[] = []
  const turn = () => {
    const now = waiting.slice(0, EACH_TURN)
    waiting = waiting.slice(EACH_TURN)
    // first: `start` may give more
    if (waiting.length > 0) setImmediate(turn)
    for (const item of now) start(item)
  }
  return (items) => {
    if (items.length === 0) return
    const isIdle = waiting.length === 0
    waiting.push(...items)
    if (isIdle) setImmediate(turn)
  }
}
