// Schemas of changes of how an organization works, and of what they made of the cost of the same work (docs/effects.md).

import { type Static, Type } from '@sinclair/typebox'
import { EVIDENCE, VERDICTS } from '../../analysis/effects/measure-change.ts'
import { MEASURES, type MeasureName } from '../../analysis/effects/measures.ts'
import { PARTS } from '../../analysis/effects/money.ts'
import { closed, component, Decimal, Integer, name, nullable, strict } from '../../analysis/records/fields.ts'
import { checked } from '../../analysis/records/problems.ts'
import type { FieldProblem } from '../../base/errors.ts'
import { choiceOf, DayRange, oneOf, oneOfOr, Paged, PageOf } from '../../http/query.ts'

/** Traits of which changes are noticed. */
export const TRAITS = [
  ...(['version', 'model', 'effort', 'mcp_server', 'skill', 'cache_lifetime', 'price'] as const),
]
export const RECORDED_KINDS = ['setting', 'file', 'training', 'other'] as const
const KINDS = [...TRAITS, ...RECORDED_KINDS, 'assigned'] as const
export const SOURCES = ['noticed', 'recorded', 'assigned'] as const
export const UNITS = ['member', 'repository'] as const

const MEASURE_NAMES = Object.keys(MEASURES) as [MeasureName, ...MeasureName[]]
const Measure = oneOfOr(
  MEASURE_NAMES,
  'cost_per_prompt',
  'What is measured; of failed_tool_share and quality the effect is a difference',
)

const listFilters = {
  verdict: choiceOf(VERDICTS, 'Only these', 'seen'),
  kind: choiceOf(KINDS, 'Only of this trait or kind', 'version'),
  ...DayRange,
  dismissed: oneOfOr(['true', 'false'], 'false', 'Only dismissed ones, or only others'),
}
export const EffectListQuery = Type.Object({ ...Paged, ...listFilters })
export type EffectListQuery = Static<typeof EffectListQuery>

export const EffectQuery = Type.Object({
  weeks: oneOfOr(['4', '8'], '4', 'Weeks after the change; 8 are a second look, with ranges of 97.5 %'),
  measure: Measure,
})
export type EffectQuery = Static<typeof EffectQuery>
export const FIRST_LOOK = { weeks: '4', measure: 'cost_per_prompt' } as const satisfies EffectQuery

export const ArmQuery = Type.Object({
  day: Type.Optional(
    Type.String({
      format: 'date',
      description: 'A day of the range; today unless given',
      examples: ['2026-12-08'],
    }),
  ),
})
export const Arm = component('Arm', {
  arm: Type.Integer({ minimum: 0, maximum: 1, description: '1 where the change is on', examples: [1] }),
})

const figure = (description: string, example: number) => nullable(Decimal(description, example))
const dollars = (description: string, example: number) => Decimal(`US dollars: ${description}`, example)
const endOf = (which: string) => figure(`The ${which} end of its range; null also where it has none`, 0.2)

const Money = closed({
  compared: dollars('cost after the change of what is compared, of those who changed', 2228.009326),
  extra: dollars('what the change made of it', 514.156009),
  low: nullable(Type.Number({ examples: [375.649842] })),
  high: nullable(Type.Number({ examples: [642.305678] })),
  parts: Type.Object(Object.fromEntries(PARTS.map((part) => [part, Type.Number({ examples: [0] })])), {
    ...strict,
    description: 'They add up to `extra`',
  }),
})

const Clusters = closed({
  by: oneOf(['member', 'team', 'repository']),
  changed: Type.Integer({ examples: [8] }),
  others: Type.Integer({ examples: [8] }),
})

export const Effect = component('Effect', {
  id: Type.String({ examples: ['eff_4c7f0d2k'] }),
  name: Type.String({ examples: ['claude-code 2.1.330'] }),
  change: closed({
    trait: oneOf(KINDS, { examples: ['version'] }),
    value: Type.String({ examples: ['claude-code 2.1.330'] }),
    source: oneOf(SOURCES, { examples: ['noticed'] }),
    first_week: Type.String({ format: 'day', description: 'Monday', examples: ['2026-09-07'] }),
    unit: oneOf(UNITS),
  }),
  evidence: oneOf(EVIDENCE, {
    description:
      'Compared with those who had not changed; with the own past, where all changed at once; or days that were drawn',
  }),
  verdict: oneOf(VERDICTS, { examples: ['seen'] }),
  measure: oneOf(MEASURE_NAMES, { examples: ['cost_per_prompt'] }),
  weeks: nullable(
    closed({ before: Type.Integer({ examples: [8] }), after: Type.Integer({ examples: [4] }) }),
  ),
  changed: Integer('Units that changed and are compared', 8),
  others: Integer('Units that had not changed', 8),
  clusters: nullable(Clusters),
  effect: figure('A share for costs, else the difference', 0.3),
  low: endOf('lower'),
  high: endOf('upper'),
  visible_rise: figure('A rise from which on it could have been seen', 0.115),
  visible_fall: figure('The same of a fall', 0.103),
  p: figure('Of assigned ones: how often another draw shows as much', 0.031),
  money: nullable(Money),
  compared_share: figure('The compared share of the cost of those who changed', 0.93),
  placebo: nullable(
    closed(
      { effect: Type.Number(), low: Type.Number(), high: Type.Number() },
      { description: 'The same before the change, where there must be nothing' },
    ),
  ),
  dismissed: Type.Boolean(),
  also_changed: Type.Array(Type.String(), {
    description: 'Ids of changes of one of its units within four weeks of this one',
  }),
  look_at: nullable(
    Type.String({
      format: 'day',
      description: 'When there is something to see; null: now',
      examples: ['2026-10-12'],
    }),
  ),
  notes: Type.Array(oneOf(['not_assigned'])),
})
export type Effect = Static<typeof Effect>
export const EffectPage = PageOf(Effect)

const Name = Type.String({ minLength: 1, maxLength: 200, examples: ['AGENTS.md names the tests'] })
const day = (description: string, example: string) =>
  Type.String({ format: 'day', description, examples: [example] })
const members = Type.Array(Type.String({ minLength: 1, maxLength: 320 }), {
  ...{ minItems: 1, maxItems: 1_000, description: 'Ids, or addresses in any case' },
})

const NewEffectBody = closed(
  {
    name: Name,
    ...Type.Partial(
      Type.Object({
        kind: oneOf(RECORDED_KINDS, { description: 'Of a recorded change' }),
        week: day('A day of the week in which it changed', '2026-11-02'),
        day: day('The day on which it changed, in place of the week', '2026-11-04'),
        unit: oneOf(UNITS),
        members,
        projects: Type.Array(name(200), { minItems: 1, maxItems: 1_000 }),
        team: name(100),
        assigned: oneOf(['days'], { description: 'Days are drawn, in place of a change that is recorded' }),
        from: day('First day, today or later', '2026-12-01'),
        to: day('Last day', '2026-12-28'),
      }),
    ).properties,
  },
  {
    title: 'NewEffect',
    examples: [{ name: 'AGENTS.md names the tests', kind: 'file', week: '2026-11-02', unit: 'repository' }],
  },
)
type NewEffectBody = Static<typeof NewEffectBody>

export const EffectChangeBody = closed(
  { name: Type.Optional(Name), dismissed: Type.Optional(Type.Boolean({ examples: [false] })) },
  { title: 'EffectUpdate', examples: [{ name: 'AGENTS.md names the tests' }] },
)
export type EffectChangeBody = Static<typeof EffectChangeBody>

/** Finds how the fields of a new change do not go together. */
function newEffectProblems(body: NewEffectBody): FieldProblem[] {
  const problems: FieldProblem[] = []
  const refuse = (isWrong: boolean, field: keyof NewEffectBody, message: string) => {
    if (isWrong) problems.push({ field, message })
  }
  const has = (field: keyof NewEffectBody) => body[field] !== undefined
  const who = (['members', 'projects', 'team'] as const).filter(has)
  refuse(who.length > 1, who[1] ?? 'members', `must not be given beside ${who[0]}`)
  if (has('assigned')) {
    for (const field of ['kind', 'week', 'day', 'projects'] as const)
      refuse(has(field), field, 'is of a recorded change')
    refuse(body.unit === 'repository', 'unit', 'must be member')
    refuse(who.length === 0, 'members', 'or team must be given')
    for (const field of ['from', 'to'] as const) refuse(!has(field), field, 'must be given')
    refuse((body.to ?? '') < (body.from ?? ''), 'to', 'must not be before from')
    return problems
  }
  for (const field of ['from', 'to'] as const) refuse(has(field), field, 'is of days that are assigned')
  for (const field of ['kind', 'unit'] as const) refuse(!has(field), field, 'must be given')
  refuse(has('week') === has('day'), 'week', 'or day must be given, one of them')
  const isOfMembers = body.unit === 'member'
  refuse(isOfMembers && has('projects'), 'projects', 'needs the unit repository')
  for (const field of ['members', 'team'] as const)
    refuse(body.unit === 'repository' && has(field), field, 'needs the unit member')
  return problems
}

/** The body with what its fields alone do not show. */
export const NewEffect = checked(NewEffectBody, newEffectProblems)
export type NewEffect = NewEffectBody
