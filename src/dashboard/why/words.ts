import type { Breakdown } from '../../features/cost/breakdown-model.ts'
import type { Explanation } from '../../features/explain/model.ts'
import { addDays } from '../client/days.ts'
import {
  formatCompact,
  formatDay,
  formatDollars,
  formatRange,
  formatShare,
  formatWhole,
  inRange,
  signed,
} from '../client/format.ts'

// Causes of a change of cost in words.

export type Part = Explanation['parts'][number]
export type Cause = Part['cause']

interface Words {
  name: string
  /** The name of its column. */
  column: string
  /** Says what drives it, from before to after. */
  driver?: (part: Part) => string
  /** Goes on with a sentence in which the part is the largest. */
  said: (part: Part) => string
}

const rate = (value: number | null, digits: number): string =>
  value === null
    ? '–'
    : value < 100 || digits > 1
      ? value.toLocaleString('en-US', { maximumFractionDigits: digits })
      : formatWhole(value)
/** Both in as many digits as tell them apart. */
const rates = ({ before, after }: Part): readonly [before: string, after: string] => {
  const digits = [1, 2, 3].find((many) => rate(before, many) !== rate(after, many)) ?? 1
  return [rate(before, digits), rate(after, digits)]
}
const between = (part: Part): string => rates(part).join(' → ')
/** `4.2 a call, not 4`. */
const notBefore = (part: Part, of = ''): string => `${rates(part)[1]}${of}, not ${rates(part)[0]}`
const tokens = (name: string, said: string): Words => ({
  name: `Tokens per call: ${name}`,
  column: 'Tokens / call',
  driver: between,
  said: (part) => `tokens ${said}: ${notBefore(part, ' a call')}`,
})

export const CAUSES: Readonly<Record<Cause, Words>> = {
  prompts: {
    ...{ name: 'Prompts', column: 'Prompts', driver: between },
    said: (part) =>
      part.before && part.after
        ? `prompts: ${notBefore(part)}`
        : 'not divided: one of the ranges has no prompts of it',
  },
  calls_per_prompt: {
    ...{ name: 'Calls per prompt', column: 'Calls / prompt' },
    driver: (part) => `${between(part)} calls`,
    said: (part) => `calls per prompt: agents made ${notBefore(part, ' calls for each prompt')}`,
  },
  model_mix: { name: 'Model mix', column: 'Model mix', said: () => 'the mix of models' },
  input_per_call: tokens('input', 'of input'),
  output_per_call: tokens('output', 'of output'),
  cache_read_per_call: tokens('read from cache', 'read from the cache'),
  cache_write_per_call: tokens('written to cache', 'written to the cache'),
  price: { name: 'Price', column: 'Price', said: () => 'prices' },
  undivided: {
    name: 'Sessions that state only a cost',
    column: 'Only a cost',
    driver: () => 'not divisible',
    said: () => 'of sessions that state only a cost',
  },
}

/** A change below this part of the cost counts as none. */
const SMALL = 0.01
/** A cost of which this part cannot be divided is said first. */
const MOST = 0.5

/** The part of a cost that has no tokens, and the agent that has most of it. */
interface Undivided {
  share: number
  agent: string | null
}

/** Reads it from a breakdown by agent. */
export function undividedOf(used: Breakdown | undefined): Undivided | undefined {
  if (used === undefined || used.total.cost === 0) return undefined
  const [most] = used.data.toSorted((a, b) => b.cost_by_kind.other - a.cost_by_kind.other)
  return { share: used.total.cost_by_kind.other / used.total.cost, agent: most?.key ?? null }
}

/** The page's answer. */
export function answerOf(found: Explanation, undivided: Undivided | undefined): string {
  const { from, to, before, after, change, parts } = found
  const than = formatRange(found.against)
  const cost = `${formatRange({ from, to })} cost ${formatDollars(after)}`
  if (undivided !== undefined && undivided.share >= MOST) {
    const agent = undivided.agent === null ? 'its sessions state' : `${undivided.agent} states`
    return `${formatShare(undivided.share)} of this cost cannot be divided: ${agent} costs without tokens`
  }
  if (Math.abs(change) < SMALL * before)
    return `${cost}, as much as ${than} (${signed(change, formatDollars)})${parts.filter(({ amount }) => amount !== 0).length > 1 ? '. The causes below cancel each other' : ''}`
  const [largest] = parts.toSorted((a, b) => Math.sign(change) * (b.amount - a.amount))
  const share = before === 0 ? '' : ` (${formatShare(Math.abs(change) / before)})`
  const difference = `${formatDollars(Math.abs(change))}${share} ${change > 0 ? 'more' : 'less'} than ${than}`
  return largest === undefined
    ? `${cost}: ${difference}`
    : `${cost}: ${difference}. ${largestSaid(largest, change)}`
}

/** The sentence of the largest part. One that exceeds the change is not a part of it: other causes work against it. */
function largestSaid(part: Part, change: number): string {
  const [amount, said] = [Math.abs(part.amount), CAUSES[part.cause].said(part)]
  const against = amount - Math.abs(change)
  if (against < 0.005) return `${formatDollars(amount)} of it is ${said}`
  const [direction, others] = change > 0 ? ['more', 'took off'] : ['less', 'added']
  return `${formatDollars(amount)} ${direction} is ${said}; other causes ${others} ${formatDollars(against)}`
}

/** Says what prices did, and what is left out. */
export function softOf({ parts, from, to, against }: Explanation, isCut: boolean): string {
  const price = parts.find(({ cause }) => cause === 'price')?.amount ?? 0
  return [
    ...(Math.abs(price) < 0.005
      ? []
      : [`Prices ${price > 0 ? 'added' : 'took off'} ${formatDollars(Math.abs(price))}.`]),
    ...(isCut ? ['Today is left out: it is not over.'] : []),
    `The rows add up to the change ${inRange({ from, to })} against ${formatRange(against)}, to the cent.`,
  ].join(' ')
}

/** The heading without anything to compare. */
export const nothingBefore = (first: string): string =>
  `There is nothing to compare yet: the first session is from ${formatDay(first)}`

/** The two halves of this number of days from the first one on; undefined for less than two. */
export function halvesOf(first: string, since: number) {
  const days = Math.floor(since / 2)
  if (days === 0) return undefined
  const to = addDays(first, since - 1)
  const from = addDays(to, 1 - days)
  return { days, now: { from, to }, before: { from: addDays(from, -days), to: addDays(from, -1) } }
}

export const unpricedText = (before: number, after: number): string =>
  `Tokens without a price: ${formatCompact(before)} → ${formatCompact(after)}, counted as $0.00`
