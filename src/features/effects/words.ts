// Says a change, its range and its verdict in words, for pages and commands.

import { MIN_UNITS } from '../../analysis/effects/measure-change.ts'
import type { Effect } from './model.ts'

/** Changes whose figure excludes that nothing changed. */
export const isFound = ({ verdict }: Pick<Effect, 'verdict'>): boolean =>
  verdict === 'seen' || verdict === 'moved'

/** Whether too few changed or did not, and time will not help: others become fewer with each that changes. */
export const isTooFew = ({ verdict, evidence, others }: Effect): boolean =>
  verdict === 'too_few' || (verdict === 'too_early' && evidence === 'compared' && others < MIN_UNITS)

const IS_SHARE: Readonly<Record<Effect['measure'], boolean>> = {
  ...{ cost_per_prompt: true, cost_per_call: true, failed_tool_share: true, quality: false },
}

export function saidChange({ measure }: Pick<Effect, 'measure'>, value: number | null): string {
  if (value === null) return '–'
  const number = IS_SHARE[measure] ? 100 * value : value
  const digits = Math.abs(number) < 10 ? 1 : 0
  const unit = measure === 'quality' ? ' points' : measure === 'failed_tool_share' ? '% points' : '%'
  return `${number < 0 ? '−' : '+'}${Math.abs(number).toFixed(digits)}${unit}`
}

/** `+20% to +41%`, or empty. */
export const saidRange = (effect: Effect): string =>
  effect.low === null || effect.high === null
    ? ''
    : `${saidChange(effect, effect.low)} to ${saidChange(effect, effect.high)}`

/** Whether more of the measure is better. */
export const isMoreBetter = (measure: Effect['measure']): boolean => measure === 'quality'

export const sizeOf = (effect: Effect, value: number | null) => saidChange(effect, value).replace(/^[+−]/, '')

/** `21 Dec`. */
const dayOf = (day: string): string => new Date(day).toUTCString().slice(5, 11).replace(/^0/, '')

/** A number of people as `only 3`, or `nobody`. */
const fewOf = (count: number): string => (count === 0 ? 'nobody' : `only ${count}`)

/** The verdict as a sentence. Only what is seen is called a saving. */
export function saidVerdict(effect: Effect): string {
  const {
    verdict,
    evidence,
    measure,
    effect: value,
    visible_rise,
    look_at,
    changed,
    others,
    clusters,
  } = effect
  switch (isTooFew(effect) ? 'too_few' : verdict) {
    case 'seen': {
      const isMore = (value ?? 0) > 0
      if (!measure.startsWith('cost')) return isMore ? 'It rose' : 'It fell'
      return isMore ? 'It costs more' : 'It saved'
    }
    case 'moved':
      return 'It moved; all changed at once, and whatever else happened then is in it'
    case 'not_seen':
      return visible_rise === null
        ? 'Not enough to see'
        : `Not enough to see: a rise by ${sizeOf(effect, visible_rise)} or more would show`
    case 'drift_possible':
      return 'Perhaps a drift: before the change it may have moved as much'
    case 'withheld':
      return 'Withheld: the two sides moved apart before the change'
    case 'unchecked':
      return 'Unchecked: there is too little from before the change'
    case 'too_few':
      if (evidence === 'assigned')
        return `Too few: ${fewOf(changed)} worked with and without it, it needs five`
      if (evidence === 'own_past')
        return changed < MIN_UNITS
          ? `Too few: ${fewOf(changed)} can be compared with their own past, it needs five`
          : 'Too few: fewer than five people worked in these repositories'
      if (changed === 0 && others === 0) return 'Too few: it needs five of each side'
      if (others === 0) return 'Too few: all changed, nobody is left to compare with'
      if (others < MIN_UNITS) return `Too few: only ${others} had not changed, it needs five`
      if (changed < MIN_UNITS) return `Too few: ${fewOf(changed)} changed, it needs five`
      return clusters === null || clusters.by === 'member'
        ? 'Too few: the work of one or two decides'
        : `Too few ${clusters.by === 'team' ? 'teams' : 'repositories'}: their people changed together`
    case 'too_early':
      return `Too early: look at it on ${dayOf(look_at ?? '')}`
  }
}
