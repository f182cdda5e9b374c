// Makes sentences on what may have changed a range's cost: prices, first uses, budgets, notes.

import type { PriceHistory } from '../../analysis/scoring/base-prices.ts'
import { PRICED_KINDS } from '../../analysis/scoring/prices.ts'
import { dayOf } from '../../base/dates.ts'
import type { Note } from '../notes/model.ts'
import type { RangeFact } from './model.ts'
import type { BudgetDay, Days } from './queries.ts'
import { saidFirstUse } from './words.ts'

const dollars = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  maximumFractionDigits: 6,
})
const amount = (value: number): string => dollars.format(value).replace(/\.00$/, '')

const NAMES = ['input', 'output', 'cache read', 'cache write', 'cache write of an hour']
const MILLION = 1_000_000
const TOKENS = { input: MILLION, output: MILLION, cache_read: MILLION }
const WRITTEN = { cache_creation: 2 * MILLION, cache_creation_1h: MILLION }

/** Dollars for a million tokens of each kind at a time. */
function pricesAt({ divided }: PriceHistory, model: string, ms: number): number[] | undefined {
  const usage = { model, tokens: { ...TOKENS, ...WRITTEN }, at: new Date(ms).toISOString(), aggregated: true }
  return divided(usage)?.costs.map((cost) => Number(cost) / 1e12)
}

export function priceFacts(
  history: PriceHistory,
  models: readonly string[],
  { date_from, date_to }: Days,
  zone: string,
): RangeFact[] {
  return models.flatMap((model) =>
    history.changesOf(model).flatMap((at): RangeFact[] => {
      const day = dayOf(at, zone)
      if (day < date_from || day > date_to) return []
      const [before, after] = [Date.parse(at) - 1, Date.parse(at)].map((ms) => pricesAt(history, model, ms))
      const changed = PRICED_KINDS.flatMap((_, kind) => {
        const [from, to] = [before?.[kind], after?.[kind]]
        return from === undefined || to === undefined || from === to
          ? []
          : [`${amount(from)} → ${amount(to)} a million tokens of ${NAMES[kind]}`]
      })
      return changed.length === 0
        ? []
        : [{ day, kind: 'price', text: `Price of ${model}: ${changed.join(', ')}` }]
    }),
  )
}

export const firstUseFact = ({
  day,
  kind,
  name,
}: {
  day: string
  kind: 'model' | 'version'
  name: string
}): RangeFact => ({
  ...{ day, kind, text: saidFirstUse(name) },
  ...(kind === 'model' && { link: `#/sessions?${new URLSearchParams({ model: name, from: day, to: day })}` }),
})

export function budgetFact({ day, scope, scope_key, limit, isExceeded }: BudgetDay): RangeFact {
  const name = `${scope === 'organization' ? 'the organization' : `the ${scope} ${scope_key}`}`
  const text = isExceeded
    ? `Budget of ${name} exceeded: ${amount(Number(limit))} a month`
    : `Budget of ${name} from this month on: ${amount(Number(limit))} a month`
  return { day, kind: 'budget', text }
}

export const noteFact = ({ day, text }: Note): RangeFact => ({ day, kind: 'note', text })
