// Schemas and names that figures of usage share: project, team, range of days, comparison, keys and columns of sums.

import { type Static, Type } from '@sinclair/typebox'
import { COST_KINDS, FACETS, type Facet } from '../../analysis/usage/model.ts'
import { isDate } from '../../base/dates.ts'
import { problemIf } from '../../base/errors.ts'
import { DayRange, filterOrNone } from '../../http/query.ts'

export const Project = filterOrNone('Only this project; empty: only what has none', 200, 'web-app')

export const Team = filterOrNone(
  'Only what members of this team did, which they are in now; empty: of members in none, and of nobody',
  100,
  'payments',
)

/** Figures of whole sessions have these filters. */
export const RangeFilters = Type.Object({ project: Project, ...DayRange })
export type RangeFilters = Static<typeof RangeFilters>

/** Two days as a range: `2026-10-01..2026-10-31`. */
export const DAYS_PATTERN = '\\d{4}-\\d{2}-\\d{2}\\.\\.\\d{4}-\\d{2}-\\d{2}'
export const rangeOfDays = (days: string) => ({ date_from: days.slice(0, 10), date_to: days.slice(12) })
/** A parameter that is not readable has an error in the place of its text. */
export const areDays = (days: unknown): boolean => {
  if (typeof days !== 'string') return false
  const { date_from, date_to } = rangeOfDays(days)
  return isDate(date_from) && isDate(date_to) && date_from <= date_to
}

/** A figure of a range beside that of the range before, which needs both dates, or of other days. */
export const compareWith = (description: string) =>
  Type.Optional(
    Type.String({
      pattern: `^(?:previous|${DAYS_PATTERN})$`,
      description: `${description}: \`previous\`, the equally long range before, which needs both dates, or days as \`2026-10-01..2026-10-31\``,
      examples: ['2026-10-01..2026-10-31', 'previous'],
    }),
  )
export const compareProblems = ({ compare, date_from, date_to }: RangeFilters & { compare?: string }) =>
  compare === undefined || compare === 'previous'
    ? problemIf(
        compare !== undefined && (date_from === undefined || date_to === undefined),
        'compare',
        'needs date_from and date_to',
      )
    : problemIf(
        !areDays(compare),
        'compare',
        'must be previous or two days in order, as 2026-10-01..2026-10-31',
      )

/** The columns of session_usage that breakdowns are made by. */
export type Dimension = 'project' | 'member' | 'agent' | 'model' | 'branch' | 'ticket'

/** Keys and filters whose values say what a member does: somebody who sees only their own figures gets them of their own sessions. */
export const PRIVATE: readonly string[] = ['member', 'team', 'branch', 'ticket', 'model', 'agent', ...FACETS]

/** The columns of session_usage that a session's cost is divided into: micro-dollars. */
export const COSTS = COST_KINDS.map((kind) => `cost_${kind}` as const)

/** The columns of session_usage that are divided among the days and models of a session, and among its tickets. */
export const USED = [...COSTS, 'input', 'output', 'cache_read', 'cache_creation', 'unpriced_tokens'] as const

/** The columns of which changes of cost are explained. */
export const EXPLAINED = [
  ...(['calls', 'prompts', 'input', 'output', 'cache_read', 'cache_creation', 'cache_creation_1h'] as const),
  ...COSTS,
] as const

/** The columns of rows of usage that are summed: `micros` is the sum of `COSTS`. */
export const MEASURES = ['micros', ...USED] as const

/** A key that sums are grouped by. */
export type SumKey = Dimension | Facet | 'team' | 'day' | 'week' | 'month'

export const isFacet = (key: string | undefined): key is Facet => FACETS.some((facet) => facet === key)
