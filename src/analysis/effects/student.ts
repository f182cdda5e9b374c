// Student's t distribution for any number of degrees of freedom, whole or not.

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
]

/** ln Γ(x) for x above 0 (Lanczos, g = 7). */
function logGamma(x: number): number {
  const t = x + 6.5
  const sum = LANCZOS.reduce(
    (all, coefficient, index) => all + (index === 0 ? 0 : coefficient / (x + index - 1)),
  )
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum)
}

/** The continued fraction of the incomplete beta function (Lentz). */
function betaFraction(x: number, a: number, b: number): number {
  const tiny = 1e-300
  const away = (value: number) => (Math.abs(value) < tiny ? tiny : value)
  let c = 1
  let d = 1 / away(1 - ((a + b) * x) / (a + 1))
  let fraction = d
  for (let m = 1; m <= 1_000; m++) {
    const even = (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m))
    d = 1 / away(1 + even * d)
    c = away(1 + even / c)
    fraction *= d * c
    const odd = (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1))
    d = 1 / away(1 + odd * d)
    c = away(1 + odd / c)
    fraction *= d * c
    if (Math.abs(d * c - 1) < 1e-16) break
  }
  return fraction
}

/** The regularized incomplete beta function I_x(a, b). */
function beta(x: number, a: number, b: number): number {
  if (x <= 0) return 0
  if (x >= 1) return 1
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x))
  return x < (a + 1) / (a + b + 2)
    ? (front * betaFraction(x, a, b)) / a
    : 1 - (front * betaFraction(1 - x, b, a)) / b
}

/** The probability above `t` ≥ 0. */
const tailOf = (t: number, df: number): number => beta(df / (df + t * t), df / 2, 0.5) / 2

/** The value below which a t of `df` degrees of freedom lies with the probability `p`, above .5 and below 1; to 1e-10. */
export function studentQuantile(p: number, df: number): number {
  let high = 1
  while (tailOf(high, df) > 1 - p) high *= 2
  let low = 0
  for (let step = 0; step < 100; step++) {
    const middle = (low + high) / 2
    if (tailOf(middle, df) > 1 - p) low = middle
    else high = middle
  }
  return (low + high) / 2
}
