// Draws the days of an assigned change in pairs, one of each arm, and tests exactly what the draw could have shown.

import { createHash } from 'node:crypto'
import { MEASURES, type MeasureName } from './measures.ts'
import { addTo, SUM, type Sums, valueAt } from './sums.ts'

/** Draws that the one that was made is compared with. */
const DRAWS = 1_999
const ALPHA = 0.05
/** An interval that reaches further has no end. */
const MOST = 1_000
/** A block of days that one hash decides. */
const BLOCK_DAYS = 512

/** The arm of a member on a day, counted from the first one. Salt 0 is the draw that counts. */
export function armOf(effectId: string, memberId: string, day: number, salt = 0): 0 | 1 {
  return armsOf(effectId, memberId, salt)(day)
}

function armsOf(effectId: string, memberId: string, salt: number): (day: number) => 0 | 1 {
  const blocks = new Map<number, Buffer>()
  const hash = (block: number) =>
    createHash('sha256').update(`${effectId}\n${salt}\n${memberId}\n${block}`).digest()
  return (day) => {
    const bytes = blocks.getOrInsertComputed(Math.floor(day / BLOCK_DAYS), hash)
    const n = (day >> 1) & 255
    return ((((bytes[n >> 3] ?? 0) >> (n & 7)) ^ day) & 1) as 0 | 1
  }
}

/** The work of a member by day, counted from the first one. */
export interface AssignedMember {
  id: string
  days: ReadonlyMap<number, Sums>
}

/** The sums of a member in both arms. */
export interface Arms {
  id: string
  arms: readonly [Sums, Sums]
}

function sumArms(effectId: string, { id, days }: AssignedMember, salt: number, length: number): Arms {
  const arms = [new Float64Array(length), new Float64Array(length)] as const
  const arm = armsOf(effectId, id, salt)
  for (const [day, sums] of days) addTo(arms[arm(day)], sums)
  return { id, arms }
}

/** The members' sums by the arms that were drawn, of those with prompts and cost in both. */
export const bothArms = (effectId: string, members: readonly AssignedMember[], length: number): Arms[] =>
  members
    .map((member) => sumArms(effectId, member, 0, length))
    .filter(({ arms }) => arms.every((sums) => valueAt(sums, SUM.prompts) > 0 && valueAt(sums, SUM.cost) > 0))

/** Sums of an arm of a draw, to divide and to divide by: `[0]` of days that are of arm 0 in truth, `[1]` of the others. */
interface DrawnArm {
  totals: [number, number]
  counts: [number, number]
}

interface Drawn {
  f: number
  arms: readonly [DrawnArm, DrawnArm]
}

/** T of a draw, after the effect τ was taken from what is of arm 1 in truth. */
function statistic(drawn: readonly Drawn[], isRatio: boolean, tau: number): number {
  let [sum, weight] = [0, 0]
  const factor = Math.exp(-tau)
  const meanOf = ({ totals: [in0, in1], counts: [n0, n1] }: DrawnArm) =>
    (in0 + (isRatio ? in1 * factor : in1 - tau * n1)) / (n0 + n1)
  for (const { f, arms } of drawn) {
    const [mean0, mean1] = [meanOf(arms[0]), meanOf(arms[1])]
    sum += f * (isRatio ? Math.log(mean1) - Math.log(mean0) : mean1 - mean0)
    weight += f
  }
  return weight === 0 ? 0 : sum / weight
}

export interface Drawing {
  theta: number
  p: number
  /** Infinite where the draws exclude no value. */
  low: number
  high: number
}

/** The exact test: how often another draw shows as much, and the effects with which that is above .05. */
export function testDraw(
  effectId: string,
  members: readonly AssignedMember[],
  measure: MeasureName,
): Drawing {
  const { of, total, isRatio, half } = MEASURES[measure]
  const scale = total === SUM.quality ? 100 : 1
  const drawAt = (salt: number): Drawn[] =>
    members.flatMap(({ id, days }) => {
      const arms: [DrawnArm, DrawnArm] = [newArm(), newArm()]
      const [drawnArm, trueArm] = [armsOf(effectId, id, -salt), armsOf(effectId, id, 0)]
      for (const [day, sums] of days) {
        const into = arms[drawnArm(day)]
        into.totals[trueArm(day)] += valueAt(sums, total) / scale
        into.counts[trueArm(day)] += valueAt(sums, of)
      }
      const [n0, n1] = arms.map(({ counts }) => counts[0] + counts[1]) as [number, number]
      const hasBoth = n0 > 0 && n1 > 0 && (!isRatio || arms.every(({ totals }) => totals[0] + totals[1] > 0))
      const quarter = (n0 + n1) / 4
      return hasBoth ? [{ f: quarter / (quarter + half), arms }] : []
    })
  const [truth = [], ...others] = Array.from({ length: DRAWS + 1 }, (_, salt) => drawAt(salt))
  const pAt = (tau: number): number => {
    const shown = Math.abs(statistic(truth, isRatio, tau))
    const asMuch = others.filter((drawn) => Math.abs(statistic(drawn, isRatio, tau)) >= shown).length
    return (1 + asMuch) / (DRAWS + 1)
  }
  const theta = statistic(truth, isRatio, 0)
  return { theta, p: pAt(0), low: theta - reach(pAt, theta, -1), high: theta + reach(pAt, theta, 1) }
}

const newArm = (): DrawnArm => ({ totals: [0, 0], counts: [0, 0] })

/** Finds how far from θ the values reach with which p is above .05: doubling from .05, then halving 30 times. */
function reach(pAt: (tau: number) => number, theta: number, sign: 1 | -1): number {
  let [near, far] = [0, 0.05]
  while (pAt(theta + sign * far) > ALPHA) {
    if (far > MOST) return Number.POSITIVE_INFINITY
    ;[near, far] = [far, far * 2]
  }
  for (let step = 0; step < 30; step++) {
    const middle = (near + far) / 2
    if (pAt(theta + sign * middle) > ALPHA) near = middle
    else far = middle
  }
  return near
}
