// Sentences of the page `Did it pay`: how many changes paid, what the newest version and model did, and money.

import type { Effect } from '../../features/effects/model.ts'
import { isFound, isTooFew, saidVerdict } from '../../features/effects/words.ts'
import type { Explanation } from '../../features/explain/model.ts'
import { saidFirstUse } from '../../features/explain/words.ts'
import { weekOf } from '../client/days.ts'
import { countOf, formatDay, formatDollars, formatRange } from '../client/format.ts'

export type Facts = Explanation['facts']

/** `first used 19 Nov, compared since the week of 16 Nov`; without the first where it is not known. */
export function whenOf({ change: { trait, value, first_week } }: Effect, facts: Facts): string {
  const day = facts.find(({ kind, text }) => kind === trait && text === saidFirstUse(value))?.day
  return `${day === undefined ? '' : `first used ${formatDay(day)}, `}compared since the week of ${formatDay(first_week)}`
}

/** The first uses of the last day with one; of versions, which agents get on different days, of its week. Oldest first. */
export function newestUses(trait: 'version' | 'model', facts: Facts): Facts {
  const uses = facts.filter(({ kind }) => kind === trait)
  const last = uses.at(-1)?.day ?? ''
  return uses.filter(({ day }) => day === last || (trait === 'version' && day >= weekOf(last)))
}

const TRAITS = ['version', 'model'] as const

/** The change of a first use; a price has the name of its model too. */
const effectOf = (effects: readonly Effect[], trait: (typeof TRAITS)[number], text: string) =>
  effects.find(({ change }) => change.trait === trait && text === saidFirstUse(change.value))

/** The newest that are known as changes but are not listed. */
export const unlistedOf = (known: readonly Effect[], listed: readonly Effect[], facts: Facts) =>
  TRAITS.flatMap((trait) =>
    newestUses(trait, facts).flatMap(({ text }) =>
      effectOf(listed, trait, text) === undefined ? (effectOf(known, trait, text) ?? []) : [],
    ),
  )

/** All of the newest versions and models, of the first uses ever; and what was noted but is not measured. */
export function newestOf(effects: readonly Effect[], facts: Facts): string {
  const said = TRAITS.map((trait) => {
    const uses = newestUses(trait, facts)
    const [from, to] = [uses[0]?.day, uses.at(-1)?.day]
    if (from === undefined || to === undefined) return ''
    const groups = Map.groupBy(
      uses.map(({ text }) => {
        const effect = effectOf(effects, trait, text)
        return {
          name: effect?.name ?? text.slice(saidFirstUse('').length),
          verdict: effect === undefined ? 'Not among the changes yet' : saidVerdict(effect),
        }
      }),
      ({ verdict }) => verdict.replace(/^./, (first) => first.toLowerCase()),
    )
    const each = [...groups].map(
      ([verdict, same]) => `${same.map(({ name }) => name).join(', ')}: ${verdict}`,
    )
    return `The newest ${trait}${uses.length > 1 ? 's' : ''}, first used ${formatRange({ from, to })}: ${each.join('; ')}. `
  })
  const notes = facts
    .filter(({ kind, text }) => kind === 'note' && !effects.some(({ name }) => name === text))
    .map(({ day, text }) => `“${text}” (${formatDay(day)})`)
  return [
    ...said,
    ...(notes.length === 0 ? [] : [`Noted but not measured, until it is added below: ${notes.join(', ')}. `]),
  ].join('')
}

const MONTH_OF_WEEKS = 365.25 / 12 / 7

/** `about $125.00 a month`. */
export const saidMoney = (extra: number, weeks = 4): string =>
  `about ${formatDollars((Math.abs(extra) / weeks) * MONTH_OF_WEEKS)} a month`

/** `Of 5 changes, 2 saved: about $213 a month. “A linter” costs more. Of 2 there is not enough to see.` */
export function sentenceOf(effects: readonly Effect[], range: string): string {
  if (effects.length === 0) return `No change is known ${range}, so there is no before and after.`
  const seen = effects.filter(({ verdict, money }) => verdict === 'seen' && money !== null)
  const few = effects.filter(isTooFew).length
  const early = effects.filter((one) => one.verdict === 'too_early' && !isTooFew(one)).length
  const all = `${countOf(effects.length, 'change')} ${range}`
  const judged = effects.filter(({ effect }) => effect !== null).length
  const why = [
    ...(early > 0 ? [` for ${early} it is too early`] : []),
    ...(few > 0 ? [` for ${few} too few changed or did not`] : []),
  ].join(',')
  if (judged === 0) return `None of ${all} can be judged${why && `:${why}`}.`
  if (seen.length === 0)
    return judged === effects.length
      ? `None of ${all} is seen to have made work cheaper or dearer.`
      : `${judged} of ${all} can be judged; none is seen to have made work cheaper or dearer.${why && ` Of the others,${why}.`}`
  const saved = seen.filter(({ effect }) => (effect ?? 0) < 0)
  const dearer = seen.filter((one) => !saved.includes(one))
  const extra = saved.reduce((sum, { money, weeks }) => sum + (money?.extra ?? 0) / (weeks?.after ?? 4), 0)
  const open = effects.length - effects.filter(isFound).length
  const amount = ` ${saidMoney(extra, 1)}`
  return [
    `Of ${all}, ${namesOf(saved)} saved${saved.length > 1 ? ':' : ''}${saved.length > 0 ? amount : ''}.`,
    ...(dearer.length > 0 ? [`${namesOf(dearer)} ${dearer.length === 1 ? 'costs' : 'cost'} more.`] : []),
    ...(open > 0 ? [`Of ${open} there is not enough to see.`] : []),
  ].join(' ')
}

/** The name of a single change, or how many there are. */
const namesOf = (effects: readonly Effect[]): string =>
  effects.length === 1 ? effects.map(({ name }) => `“${name}”`).join() : `${effects.length || 'none'}`
