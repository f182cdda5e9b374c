import { type Static, Type } from '@sinclair/typebox'
import { closed, component, nullable } from '../../analysis/records/fields.ts'
import { CAUSES } from '../../analysis/scoring/change-parts.ts'
import { type FieldProblem, problemIf } from '../../base/errors.ts'
import { oneOf, oneOfOr, Page, Pagination, PerPage } from '../../http/query.ts'
import { FacetFilters, facetProblems, UsageFilters } from '../usage/filters.ts'
import { areDays, DAYS_PATTERN } from '../usage/model.ts'

export const EXPLAINED_KEYS = ['project', 'member', 'team', 'model', 'agent', 'branch', 'vendor'] as const

export const ExplainQuery = Type.Object({
  by: oneOfOr(
    EXPLAINED_KEYS,
    'project',
    'What an item is of. Causes are found within each key and summed, so that those of the total depend on it',
  ),
  against: Type.Optional(
    Type.String({
      default: 'previous',
      pattern: `^(?:previous|year|${DAYS_PATTERN})$`,
      description:
        'What the range is compared with: `previous`, as many days before; `year`, the same days a year before; or days as ' +
        '`2026-10-01..2026-10-31`',
      examples: ['previous', 'year', '2026-10-01..2026-10-31'],
    }),
  ),
  ...UsageFilters.properties,
  ...FacetFilters.properties,
  page: Page,
  per_page: PerPage,
})
export type ExplainQuery = Static<typeof ExplainQuery>

export const explainProblems = ({ against = 'previous', ...query }: ExplainQuery): FieldProblem[] => [
  ...facetProblems(query, { by: query.by }),
  ...problemIf(
    against !== 'previous' && against !== 'year' && !areDays(against),
    'against',
    'must be previous, year, or two days in order, as 2026-10-01..2026-10-31',
  ),
]

const day = Type.String({ format: 'date', examples: ['2026-11-22'] })
const dollars = Type.Number({ description: 'US dollars, exact to 6 decimals', examples: [34.32] })
const driver = nullable(
  Type.Number({
    description:
      'What drives the cause: prompts, calls per prompt, tokens per call; to 6 decimals. null for `model_mix`, `price`, ' +
      '`undivided`, and where nothing is divided by',
    examples: [14.2],
  }),
)
const cause = oneOf(CAUSES, {
  description:
    '`undivided`: costs without tokens, and sessions without calls. `prompts` has the whole change of a key of which one ' +
    'range has no prompts, calls or tokens',
})

export const Explanation = component('Explanation', {
  from: day,
  to: day,
  against: closed({ from: day, to: day }),
  before: dollars,
  after: dollars,
  change: dollars,
  parts: Type.Array(
    closed({ cause, amount: dollars, before: driver, after: driver }, { title: 'ChangePart' }),
    {
      description: 'They add up to `change` exactly',
    },
  ),
  data: Type.Array(
    component('ExplainedKey', {
      key: nullable(Type.String({ examples: ['checkout'] })),
      before: dollars,
      after: dollars,
      change: dollars,
      parts: closed(
        Object.fromEntries(CAUSES.map((each) => [each, dollars])) as Record<
          (typeof CAUSES)[number],
          typeof dollars
        >,
        {
          title: 'ExplainedKeyParts',
          description: 'They add up to the change of the key, and each of all keys to the part of the total',
        },
      ),
    }),
    { description: 'The largest change first, of either sign' },
  ),
  facts: Type.Array(
    closed(
      {
        day,
        kind: oneOf(['version', 'model', 'price', 'budget', 'note']),
        text: Type.String({ examples: ['First use of claude-code 2.1.9'] }),
        link: Type.Optional(Type.String({ examples: ['https://models.dev'] })),
      },
      { title: 'RangeFact' },
    ),
    {
      description:
        'What happened in the range: the organization’s first use ever of a version or model, a price that changed, a budget ' +
        'in force from that day or exceeded on it, a note',
    },
  ),
  pagination: Pagination,
})
export type Explanation = Static<typeof Explanation>
export type RangeFact = Explanation['facts'][number]
