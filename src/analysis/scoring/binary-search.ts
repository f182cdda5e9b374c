/** The first index, from 0, of which the condition holds, which then holds of all up to `length`; `length` for none. */
export function firstIndex(length: number, holds: (index: number) => boolean): number {
  let [from, to] = [0, length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (holds(middle)) to = middle
    else from = middle + 1
  }
  return from
}

/** The index of the first of ascending numbers that is not below `value`. */
export const firstAtLeast = (sorted: ArrayLike<number>, value: number): number =>
  firstIndex(sorted.length, (index) => (sorted[index] ?? 0) >= value)
