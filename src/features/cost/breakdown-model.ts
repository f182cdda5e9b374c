import { type Static, type TNumber, Type } from '@sinclair/typebox'
import { closed, component, Decimal, Integer, nullable, Text } from '../../analysis/records/fields.ts'
import { COST_KINDS, FACETS } from '../../analysis/usage/model.ts'
import { type FieldProblem, problemIf } from '../../base/errors.ts'
import { choiceOf, oneOf, oneOfOr, Paged, Pagination } from '../../http/query.ts'
import { FacetFilters, facetProblems, UsageFilters } from '../usage/filters.ts'
import { compareProblems, compareWith, type Dimension, isFacet, type SumKey } from '../usage/model.ts'

export const BREAKDOWN_KEYS = [
  'project',
  'member',
  'team',
  'model',
  'agent',
  'branch',
  'ticket',
  'day',
  'week',
  'month',
  ...FACETS,
] as const satisfies readonly SumKey[]

export const isTimeKey = (key: SumKey | undefined): key is 'day' | 'week' | 'month' =>
  key === 'day' || key === 'week' || key === 'month'
/** The column that a key is made of, but a key of time and a facet. */
export const groupColumns = (key: SumKey | undefined): Dimension[] =>
  key === undefined || isTimeKey(key) || isFacet(key) ? [] : [key === 'team' ? 'member' : key]

export const BreakdownQuery = Type.Object({
  by: oneOf(BREAKDOWN_KEYS, {
    description:
      'What an item is of: of `version` (agent and version), `effort`, `skill`, `subagent`, `mcp_server`, `plugin`, `tier`, ' +
      '`vendor` and `paid_by` one at a time, as agents write them on calls; null is without. Sums answer in a time that ' +
      'does not grow with the number of sessions. The sessions that match are read ' +
      'with the filters `ticket`, `min_cost`, `max_cost`, `min_quality`, `max_quality` and `has_findings`; by ticket with member, ' +
      'agent, model or branch; by branch with agent or model; by project and member together with agent, model or branch; by one ' +
      'of those above with another key or filter than agent and time; and by two keys of days that make no whole months',
    examples: ['project'],
  }),
  and_by: choiceOf(BREAKDOWN_KEYS, 'A second key, other than `by`: an item for each pair', 'model'),
  top: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 50,
      description:
        'Only so many values of `and_by`, which it needs: those that cost most in the whole range; the others are summed ' +
        'as `(others)`',
    }),
  ),
  top_by: choiceOf(
    ['cost', 'cost_and_change'],
    'What `top` goes by; `cost_and_change`: half of them cost most, and the others changed most against `compare`',
    'cost',
  ),
  compare: compareWith(
    'Adds `previous`, cost and sessions of the same key in another range, with a key of time to the total alone',
  ),
  ...UsageFilters.properties,
  ...FacetFilters.properties,
  sort: oneOfOr(
    ['cost', 'tokens', 'sessions', 'unpriced_tokens', 'change', 'key'],
    'cost',
    'What to sort by: `tokens` is the sum of the four kinds; `change` is the size of the change of cost, needs ' +
      '`compare`, and includes keys that only the other range has; ties are broken by key',
  ),
  order: oneOfOr(['asc', 'desc'], 'desc', 'Direction of the sort'),
  ...Paged,
})
export type BreakdownQuery = Static<typeof BreakdownQuery>

const key = (description: string) => nullable(Text(description, 'checkout'))

/** Sums over sessions have no largest value; a session's tokens have. */
const tokenSum = Type.Integer({ minimum: 0, examples: [1_284_213] })

const sums = {
  sessions: Integer(
    'That began in the range. One counts once under each of its models; in the total, once',
    42,
  ),
  turns: Integer('In the range, of sessions with the key', 812),
  tokens: closed({ input: tokenSum, output: tokenSum, cache_read: tokenSum, cache_creation: tokenSum }),
  cost: Decimal('US dollars, exact to 6 decimals', 128.4),
  cost_by_kind: closed(
    Object.fromEntries(COST_KINDS.map((kind) => [kind, Type.Number({ examples: [21.4] })])) as Record<
      (typeof COST_KINDS)[number],
      TNumber
    >,
    {
      description:
        'The cost by kind, which add up to it exactly; `other`: searches, and stated costs without tokens',
    },
  ),
  share: Type.Number({
    minimum: 0,
    maximum: 1,
    description: 'Fraction of the total cost, rounded to 6 decimals; 0 where nothing costs',
    examples: [0.25],
  }),
  unpriced_tokens: Integer('Tokens of models without a known price, of all four kinds; they cost nothing', 0),
}

const previous = Type.Optional(
  closed(
    { cost: Type.Number({ examples: [96.1] }), sessions: Type.Integer({ examples: [31] }) },
    { description: 'In the range of `compare`' },
  ),
)

export const BreakdownItem = component('BreakdownItem', {
  key: key(
    'A name; a member’s id, or the address where no member has it; the first day of a day, week or month; ' +
      'null for sessions without a member, team, branch …, and calls without a version, skill …',
  ),
  and_key: Type.Optional(key('The second key; `(others)` for those beyond `top`')),
  ...sums,
  previous,
})
export type BreakdownItem = Static<typeof BreakdownItem>

export const Breakdown = component('Breakdown', {
  data: Type.Array(BreakdownItem),
  pagination: Pagination,
  total: closed(
    { ...sums, previous },
    { title: 'BreakdownTotal', description: 'It counts the items of all pages' },
  ),
})
export type Breakdown = Static<typeof Breakdown>

/** Finds parameters that do not go together. */
export function breakdownProblems(query: BreakdownQuery): FieldProblem[] {
  const { by, and_by, top, top_by, compare, sort } = query
  const isChange = sort === 'change'
  return [
    ...facetProblems(query, { by, and_by }),
    ...problemIf(and_by !== undefined && by === and_by, 'and_by', 'must not be the same as by'),
    ...problemIf(top !== undefined && and_by === undefined, 'top', 'needs and_by'),
    ...problemIf(
      top_by === 'cost_and_change' && (top === undefined || compare === undefined),
      'top_by',
      'cost_and_change needs top and compare',
    ),
    ...compareProblems(query),
    ...problemIf(isChange && compare === undefined, 'sort', 'change needs compare'),
    ...problemIf(
      isChange && (isTimeKey(by) || isTimeKey(and_by)),
      'sort',
      'change needs other keys than day, week and month',
    ),
  ]
}
