import type { Effect } from '../../features/effects/model.ts'
import { saidVerdict } from '../../features/effects/said.ts'
import type { Explanation } from '../../features/explain/model.ts'
import { saidFirstUse } from '../../features/explain/said.ts'
import { formatDay } from '../client/format.ts'

// The newest version and model in words, with the days that the page of causes names.

export type Facts = Explanation['facts']

/** The day on which the organization used a version or model first. */
const firstUseOf = ({ change: { value } }: Effect, facts: Facts): string | undefined =>
  facts.find(({ text }) => text === saidFirstUse(value))?.day

/** `first used 19 Nov, weeks from 16 Nov`; without the first where it is not of these days. */
export function whenOf(effect: Effect, facts: Facts): string {
  const day = firstUseOf(effect, facts)
  return `${day === undefined ? '' : `first used ${formatDay(day)}, `}weeks from ${formatDay(effect.change.first_week)}`
}

/** All of the newest versions, the newest model, and what was noted but is not measured. */
export function newestOf(effects: readonly Effect[], facts: Facts): string {
  const dayOf = (effect: Effect) => firstUseOf(effect, facts) ?? effect.change.first_week
  const said = (['version', 'model'] as const).map((trait) => {
    const sorted = effects
      .filter(({ change }) => change.trait === trait)
      .sort((a, b) => dayOf(b).localeCompare(dayOf(a)))
    const newest = sorted.filter((one) => sorted[0] !== undefined && dayOf(one) === dayOf(sorted[0]))
    const came = facts.filter(
      ({ kind, day }) => kind === trait && (sorted[0] === undefined || day > dayOf(sorted[0])),
    )
    // one may be given twice
    const byName = new Map(newest.map((one) => [one.name, one]))
    const groups = [...Map.groupBy(byName.values(), saidVerdict)].map(
      ([verdict, same]) =>
        `${same.map(({ name }) => name).join(', ')}: ${verdict.replace(/^./, (first) => first.toLowerCase())}`,
    )
    return [
      ...came.map(({ day, text }) => `${text}, ${formatDay(day)}: not among these changes yet. `),
      ...(sorted[0] === undefined
        ? []
        : [
            `The newest ${trait}${byName.size > 1 ? 's' : ''}, ${whenOf(sorted[0], facts)}: ${groups.join('; ')}. `,
          ]),
    ].join('')
  })
  const notes = facts
    .filter(({ kind, text }) => kind === 'note' && !effects.some(({ name }) => name === text))
    .map(({ day, text }) => `“${text}” (${formatDay(day)})`)
  return [
    ...said,
    ...(notes.length === 0 ? [] : [`Noted but not measured, until it is added below: ${notes.join(', ')}. `]),
  ].join('')
}
