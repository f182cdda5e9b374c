/** Round steps for an axis from 0 to at least `max`: at most `count` of them. */
export function ticksTo(max: number, count = 4): number[] {
  if (!(max > 0)) return [0, 1]
  const rough = max / count
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? rough
  const steps = Math.ceil(max / step - 1e-9)
  return Array.from({ length: steps + 1 }, (_, index) => Number((index * step).toPrecision(12)))
}

/** The indexes of at most `count` of `length` labels, evenly spaced. */
export function labelled(length: number, count: number): Set<number> {
  const every = Math.max(1, Math.ceil(length / Math.max(1, count)))
  return new Set(Array.from({ length: Math.ceil(length / every) }, (_, index) => index * every))
}
