import { type Static, Type } from '@sinclair/typebox'
import type { FieldProblem } from '../../base/errors.ts'
import { component, literals, name, optional } from './fields.ts'

const day = optional(Type.String({ format: 'day' }))

/** The record of a change: one that was recorded or assigned, or noticed and then renamed or dismissed: as export gives it. */
export const EffectRecord = component('EffectRecord', {
  type: Type.Literal('effect'),
  id: Type.String({ pattern: '^eff_[A-Za-z0-9_-]{1,64}$', examples: ['eff_4c7f0d2k'] }),
  source: literals(['noticed', 'recorded', 'assigned']),
  name: optional(name(200)),
  dismissed: Type.Boolean(),
  kind: optional(literals(['setting', 'file', 'training', 'other', 'assigned'])),
  unit: literals(['member', 'repository']),
  from_day: day,
  to_day: day,
  members: optional(Type.Array(name(100), { maxItems: 1_000 })),
  projects: optional(Type.Array(name(200), { maxItems: 1_000 })),
  team: optional(name(100)),
})
export type EffectRecord = Static<typeof EffectRecord>

/** A noticed change has its weeks from calls, others have days of their own. */
export function effectProblem(
  { source, from_day, to_day }: EffectRecord,
  at: string,
): FieldProblem | undefined {
  if (source === 'noticed') return undefined
  if (from_day == null) return { field: `${at}from_day`, message: 'is required' }
  if (source !== 'assigned' || (to_day != null && to_day >= from_day)) return undefined
  return { field: `${at}to_day`, message: 'must be given, and not be before from_day' }
}
