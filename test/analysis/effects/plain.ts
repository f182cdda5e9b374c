// Another implementation of docs/effects.md, from lists of rows, without anything of the program: what is measured by both must be the same.

export interface Row {
  unit: string
  project: string
  week: number
  prompts: number
  /** micro-dollars */
  cost: number
}

export interface PlainAnswer {
  theta: number
  low: number
  high: number
  rise: number
  fall: number
  changed: number
  others: number
}

const total = (numbers: number[]) => numbers.reduce((a, b) => a + b, 0)

/** The density of t, integrated by Simpson's rule from 0. */
function probabilityBelow(t: number, df: number): number {
  const lnBeta = (() => {
    // ∫ x^(−½)(1−x)^(df/2−1) by x = s²: 2 ∫ (1−s²)^(df/2−1) ds, by s = sin u: 2 ∫ cos(u)^(df−1) du
    const steps = 4_000
    const width = Math.PI / 2 / steps
    let sum = 0
    for (let i = 0; i <= steps; i++) {
      const weight = i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2
      const u = i * width
      sum += weight * (i === steps && df > 1 ? 0 : Math.cos(u) ** (df - 1))
    }
    return Math.log((2 * sum * width) / 3)
  })()
  // t = √df tan u: the density becomes cos(u)^(df−1) / ½ ∫ … over −π/2 to π/2
  const end = Math.atan(t / Math.sqrt(df))
  const steps = 4_000
  const width = end / steps
  let sum = 0
  for (let i = 0; i <= steps; i++) {
    const weight = i === 0 || i === steps ? 1 : i % 2 === 1 ? 4 : 2
    sum += weight * Math.cos(i * width) ** (df - 1)
  }
  return 0.5 + (sum * width) / 3 / Math.exp(lnBeta)
}

export function plainQuantile(p: number, df: number): number {
  let [low, high] = [0, 1_000]
  for (let i = 0; i < 50; i++) {
    const middle = (low + high) / 2
    if (probabilityBelow(middle, df) < p) low = middle
    else high = middle
  }
  return low
}

interface Question {
  rows: Row[]
  /** The weeks of adoption that count. */
  weeks: number[]
  adopted: Map<string, number>
  /** The cluster of each unit. */
  clusterOf: (unit: string) => string
  after: number
  shift: number
  p: number
}

/** Cost per prompt, compared with those who had not changed. */
export function plainComparison({ rows, weeks, adopted, clusterOf, after, shift, p }: Question): PlainAnswer {
  const units = [...new Set(rows.map((row) => row.unit))].sort()

  const unitAt = (unit: string, at: number) => {
    const own = rows.filter((row) => row.unit === unit)
    if (!own.some((row) => row.week >= at - 8 && row.week <= at - 5 && row.prompts > 0)) return null
    const cells = [...new Set(own.map((row) => row.project))].sort().flatMap((project) => {
      const of = (from: number, to: number, field: 'prompts' | 'cost') =>
        total(
          own
            .filter((row) => row.project === project && row.week >= from && row.week <= to)
            .map((row) => row[field]),
        )
      const [p0, p1] = [of(at - 8, at - 1, 'prompts'), of(at + 1, at + after, 'prompts')]
      const [c0, c1] = [of(at - 8, at - 1, 'cost'), of(at + 1, at + after, 'cost')]
      if (p0 < 10 || p1 < 10 || c0 === 0 || c1 === 0) return []
      return [{ d: Math.log(c1 / p1 / (c0 / p0)), h: 1 / (1 / p0 + 1 / p1) }]
    })
    if (cells.length === 0) return null
    const h = total(cells.map((cell) => cell.h))
    return { unit, d: total(cells.map((cell) => cell.d * cell.h)) / h, w: h / (h + 50) }
  }

  const all = weeks.map((week) => {
    const isIn = (unit: string) => adopted.get(unit) === week
    const isOut = (unit: string) =>
      (adopted.get(unit) ?? Number.POSITIVE_INFINITY) > week + (shift === 0 ? after : 0)
    return {
      a: units.filter(isIn).flatMap((unit) => unitAt(unit, week - shift) ?? []),
      b: units.filter(isOut).flatMap((unit) => unitAt(unit, week - shift) ?? []),
    }
  })
  const enough = all.filter(({ a, b }) => a.length >= 1 && b.length >= 2)

  const effectWithout = (left: string | null) => {
    const parts = enough.flatMap(({ a, b }) => {
      const [inA, inB] = [a, b].map((side) => side.filter(({ unit }) => clusterOf(unit) !== left)) as [
        typeof a,
        typeof b,
      ]
      if (inA.length < 1 || inB.length < 2) return []
      const [wa, wb] = [total(inA.map(({ w }) => w)), total(inB.map(({ w }) => w))]
      const mean = (side: typeof a, w: number) => total(side.map((one) => one.w * one.d)) / w
      return [{ v: 1 / (1 / wa + 1 / wb), theta: mean(inA, wa) - mean(inB, wb), inA, inB, wa, wb }]
    })
    const v = total(parts.map((part) => part.v))
    return { theta: total(parts.map((part) => part.theta * part.v)) / v, parts, v }
  }

  const { theta, parts, v } = effectWithout(null)
  const lambda = new Map<string, number>()
  const add = (unit: string, weight: number) =>
    lambda.set(clusterOf(unit), (lambda.get(clusterOf(unit)) ?? 0) + weight)
  for (const part of parts) {
    for (const { unit, w } of part.inA) add(unit, ((part.v / v) * w) / part.wa)
    for (const { unit, w } of part.inB) add(unit, (-(part.v / v) * w) / part.wb)
  }
  const ever = new Set(enough.flatMap(({ a }) => a.map(({ unit }) => clusterOf(unit))))
  const treated = [...lambda.keys()].filter((name) => ever.has(name))
  const control = [...lambda.keys()].filter((name) => !ever.has(name))
  const sides = control.length < 2 ? [[...treated, ...control]] : [treated, control]
  const variances = sides.map((side) => {
    const squares = side.map((name) => (effectWithout(name).theta - theta) ** 2)
    const weights = side.map((name) => (lambda.get(name) ?? 0) ** 2)
    const n = total(weights) ** 2 / total(weights.map((weight) => weight ** 2))
    return { v: ((side.length - 1) / side.length) * total(squares), n }
  })
  const se2 = total(variances.map((side) => side.v))
  const df = Math.max(1, se2 ** 2 / total(variances.map((side) => side.v ** 2 / Math.max(side.n - 1, 0.5))))
  const [t, power] = [plainQuantile(p, df), plainQuantile(0.8, df)]
  const se = Math.sqrt(se2)
  return {
    theta,
    low: Math.exp(theta - t * se) - 1,
    high: Math.exp(theta + t * se) - 1,
    rise: Math.exp((t + power) * se) - 1,
    fall: 1 - Math.exp(-(t + power) * se),
    changed: new Set(enough.flatMap(({ a }) => a.map(({ unit }) => unit))).size,
    others: new Set(enough.flatMap(({ b }) => b.map(({ unit }) => unit))).size,
  }
}
