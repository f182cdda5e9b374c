// The causes of a change of cost in words, for the page `Why it changed` and the overview's movers.

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
/** Says where a driver went the other way than all of it: its amount has that sign. */
function elsewhere({ before, after, amount }: Part): string {
  const moved = (after ?? 0) - (before ?? 0)
  if (Math.abs(amount) < 0.005 || moved * amount >= 0) return ''
  return `, but ${amount > 0 ? 'more' : 'less'} of it where it costs most`
}
const between = (part: Part): string => rates(part).join(' → ') + elsewhere(part)
/** `4.2 a call, not 4`. */
const notBefore = (part: Part, of = ''): string =>
  `${rates(part)[1]}${of}, not ${rates(part)[0]}${elsewhere(part)}`
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
    driver: between,
    said: (part) => `calls per prompt: agents made ${notBefore(part, ' calls for each prompt')}`,
  },
  model_mix: {
    ...{ name: 'Model mix', column: 'Model mix' },
    said: ({ amount }) => `the mix of models, which became ${amount > 0 ? 'dearer' : 'cheaper'}`,
  },
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

/** The most causes that a sentence names, and the part of the change with which it ends. */
const [NAMED, ENOUGH] = [3, 0.8]

/** Adds to an explanation what a breakdown by model and agent knows. */
interface Used {
  /** The part of the cost that has no tokens, and the agent that has most of it. */
  undivided: { share: number; agent: string | null }
  /** The models whose part of the cost rose and fell most: `claude-opus-4-5: 28.1% of the cost, not 20.3%`. */
  rose?: string | undefined
  fell?: string | undefined
}

export function usedSums(used: Breakdown | undefined): Used | undefined {
  if (used === undefined || used.total.cost === 0) return undefined
  const { data, total } = used
  const [most] = data.toSorted((a, b) => b.cost_by_kind.other - a.cost_by_kind.other)
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0)
  const models = [...Map.groupBy(data, ({ key }) => key)]
    .filter(([model]) => model !== null && model !== '(others)')
    .map(([model, rows]) => ({
      model,
      now: sum(rows.map(({ cost }) => cost)) / total.cost,
      before: sum(rows.map(({ previous }) => previous?.cost ?? 0)) / (total.previous?.cost || 1),
    }))
    .sort((a, b) => b.now - b.before - (a.now - a.before))
  /** Nothing where its part did not move, which is so of an only model. */
  const saidOf = (one: (typeof models)[number] | undefined, sign: 1 | -1): string | undefined => {
    if (one === undefined || sign * (one.now - one.before) <= 0) return undefined
    const [now, before] = [formatShare(one.now), formatShare(one.before)]
    return now === before ? undefined : `${one.model}: ${now} of the cost, not ${before}`
  }
  return {
    undivided: { share: total.cost_by_kind.other / total.cost, agent: most?.and_key ?? null },
    rose: saidOf(models[0], 1),
    fell: saidOf(models.at(-1), -1),
  }
}

/** The page's answer. */
export function answerOf(explanation: Explanation, used?: Used): string {
  const { from, to, before, after, change, parts } = explanation
  const than = formatRange(explanation.against)
  const cost = `${formatRange({ from, to })} cost ${formatDollars(after)}`
  if (used !== undefined && used.undivided.share >= MOST) {
    const { share, agent: agentName } = used.undivided
    const agent = agentName === null ? 'its sessions state' : `${agentName} states`
    return `${formatShare(share)} of this cost cannot be divided: ${agent} costs without tokens`
  }
  if (Math.abs(change) < SMALL * before)
    return `${cost}, as much as ${than} (${signed(change, formatDollars)})${parts.filter(({ amount }) => amount !== 0).length > 1 ? '. The causes below cancel each other' : ''}`
  const share = before === 0 ? '' : ` (${formatShare(Math.abs(change) / before)})`
  const difference = `${formatDollars(Math.abs(change))}${share} ${change > 0 ? 'more' : 'less'} than ${than}`
  const causes = causesSaid(parts, change, change > 0 ? used?.rose : used?.fell)
  return `${cost}: ${difference}${causes && `. ${causes}`}`
}

/** Names the largest causes. What exceeds the change is not a part of it: other causes work against it. */
function causesSaid(parts: readonly Part[], change: number, model: string | undefined): string {
  const items: Part[] = []
  let sum = 0
  for (const part of parts.toSorted((a, b) => Math.sign(change) * (b.amount - a.amount))) {
    const isEnough = items.length === NAMED || sum >= ENOUGH * Math.abs(change)
    if (isEnough || part.amount * change <= 0) break
    items.push(part)
    sum += Math.abs(part.amount)
  }
  const against = sum - Math.abs(change)
  const [direction, others] = change > 0 ? ['more', 'took off'] : ['less', 'added']
  return [
    ...items.map((part, index) => {
      const of = index > 0 ? '' : against < 0.005 ? ' of it is' : ` ${direction} is`
      return `${formatDollars(Math.abs(part.amount))}${of} ${CAUSES[part.cause].said(part)}${part.cause === 'model_mix' && model ? ` (${model})` : ''}`
    }),
    ...(against < 0.005 ? [] : [`other causes ${others} ${formatDollars(against)}`]),
  ].join('; ')
}

/** `The project that rose most: web-app, by $5.69; that fell most: api, by $27.81. `; empty for none. */
export function mostSaid(
  by: string,
  rows: readonly Pick<Explanation['data'][number], 'key' | 'change'>[],
  nameOf: (key: string | null) => string,
): string {
  const sorted = rows.toSorted((a, b) => b.change - a.change)
  const said = [
    { how: 'rose', row: sorted.find(({ change }) => change >= 0.005) },
    { how: 'fell', row: sorted.findLast(({ change }) => change <= -0.005) },
  ].flatMap(({ how, row }) =>
    row === undefined
      ? []
      : [`that ${how} most: ${nameOf(row.key)}, by ${formatDollars(Math.abs(row.change))}`],
  )
  return said.length === 0 ? '' : `The ${by} ${said.join('; ')}. `
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

export const unpricedText = (tokens: number): string =>
  `Tokens without a price: ${formatCompact(tokens)}, counted as $0.00`
