// The records of a paid plan, and of limits of a subscription as an agent stated them.

import { type Static, Type } from '@sinclair/typebox'
import type { FieldProblem } from '../../base/errors.ts'
import { component, literals, name, optional } from './fields.ts'
import { VENDORS } from './session.ts'

const Vendor = literals(VENDORS)
export type Vendor = (typeof VENDORS)[number]

const day = (description: string) => Type.String({ format: 'day', description, examples: ['2026-11-01'] })

/** The fields of a plan but those that name it. */
export const PLAN_FIELDS = {
  quantity: Type.Integer({ minimum: 1, maximum: 1e6, description: 'Seats', examples: [1] }),
  price_month: Type.Number({
    ...{ minimum: 0, maximum: 100_000, examples: [100] },
    description: 'Of one seat and month, in `currency`',
  }),
  currency: Type.String({ pattern: '^[A-Z]{3}$', description: 'A code of ISO 4217', examples: ['USD'] }),
  usd_rate: Type.Number({
    ...{ exclusiveMinimum: 0, maximum: 1e6, examples: [1.08] },
    description: 'US dollars for one unit of the currency; required where it is not USD',
  }),
  included_credits: Type.Number({
    ...{ minimum: 0, maximum: 1e9, examples: [1900] },
    description: 'Credits of one seat and month',
  }),
}

export const PlanRecord = component('PlanRecord', {
  type: Type.Literal('plan'),
  vendor: Vendor,
  plan: name(100),
  member: optional(
    Type.String({
      ...{ minLength: 1, maxLength: 320 },
      description: 'An id, or an address in any case; without it the seats are of everybody without a plan',
    }),
  ),
  from: day('First day'),
  to: optional(day('Last day, inclusive')),
  price_month: PLAN_FIELDS.price_month,
  quantity: optional(PLAN_FIELDS.quantity),
  currency: optional(PLAN_FIELDS.currency),
  usd_rate: optional(PLAN_FIELDS.usd_rate),
  included_credits: optional(PLAN_FIELDS.included_credits),
  id: optional(Type.String({ pattern: '^plan_[A-Za-z0-9_-]{1,64}$', examples: ['plan_4f1c2a'] })),
})
export type PlanRecord = Static<typeof PlanRecord>

export function planProblem(
  { from, to, currency, usd_rate }: Pick<PlanRecord, 'from' | 'to' | 'currency' | 'usd_rate'>,
  at: string,
): FieldProblem | undefined {
  if (to != null && to < from) return { field: `${at}to`, message: 'must not be before from' }
  if ((currency ?? 'USD') !== 'USD' && usd_rate == null)
    return { field: `${at}usd_rate`, message: 'is required for another currency than USD' }
  return undefined
}

export const LimitRecord = component('LimitRecord', {
  type: Type.Literal('limit'),
  vendor: Vendor,
  agent: name(100),
  account: optional(
    Type.String({
      pattern: '^[0-9a-f]{16}$',
      examples: ['4f1c2a9b0d3e5f67'],
      description:
        'The first 16 hexadecimal digits of SHA-256 of the organization’s id followed by that of the account',
    }),
  ),
  plan: optional(name(100)),
  at: Type.String({ format: 'timestamp', examples: ['2026-01-31T12:34:56.789Z'] }),
  windows: Type.Array(
    component('LimitWindow', {
      limit: Type.String({
        ...{ minLength: 1, maxLength: 100, examples: ['five_hour'] },
        description: '`five_hour`, `week`, `month`, `credits`, `spend`, or the agent’s own name',
      }),
      scope: optional(name(100)),
      used_percent: Type.Number({ minimum: 0, maximum: 1000 }),
      resets_at: optional(Type.String({ format: 'timestamp' })),
      hit: Type.Boolean({ description: 'Whether the agent was refused' }),
      overage: optional(Type.Boolean({ description: 'Whether work went on beyond the limit at a price' })),
    }),
    { minItems: 1, maxItems: 20 },
  ),
  user_email: optional(Type.String({ format: 'email', maxLength: 320 })),
})
export type LimitRecord = Static<typeof LimitRecord>
