// Sentences of the page `Did it pay` on the newest version and model, with the days that the page `Why it changed` names.

import type { Effect } from '../../features/effects/model.ts'
import { saidVerdict } from '../../features/effects/words.ts'
import type { Explanation } from '../../features/explain/model.ts'
import { saidFirstUse } from '../../features/explain/words.ts'
import { weekOf } from '../client/days.ts'
import { formatDay, formatRange } from '../client/format.ts'

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
