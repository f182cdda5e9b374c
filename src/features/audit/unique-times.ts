/**
 * A unique time for each of `wanted`, in microseconds: the wanted time, or, where it is `taken` or assigned
 * already, the next free one. Equal times keep their order. The result is in the order of `wanted`.
 */
export function assignUniqueTimes(wanted: readonly bigint[], taken: ReadonlySet<bigint>): bigint[] {
  const assigned = [...wanted]
  const order = wanted.map((at, index) => ({ at, index }))
  order.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.index - b.index))
  let next = 0n
  for (const { at, index } of order) {
    let free = at > next ? at : next
    while (taken.has(free)) free += 1n
    assigned[index] = free
    next = free + 1n
  }
  return assigned
}
