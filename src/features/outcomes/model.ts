import { type Static, Type } from '@sinclair/typebox'
import { closed, component, Decimal, Integer, nullable, Text } from '../../analysis/records/fields.ts'
import { DayRange, oneOfOr, Paged, Pagination, textFilter } from '../../http/query.ts'
import { compareWith, Project, Team } from '../usage/model.ts'

const GROUPS = ['month', 'week', 'project', 'repo', 'member', 'team', 'agent'] as const
export type Group = (typeof GROUPS)[number]

export const OutcomesQuery = Type.Object({
  by: oneOfOr(GROUPS, 'month', 'What an item is of'),
  ...DayRange,
  project: Project,
  repo: textFilter(
    'Only this repository; sessions and commits count under that of their project’s pull requests',
    'acme/checkout',
  ),
  member: textFilter('Only what this member did: an id, or an address in any case', 'ada@example.com', 320),
  team: Team,
  compare: compareWith('Adds `previous` to the total, the same of another range'),
  ...Paged,
})
export type OutcomesQuery = Static<typeof OutcomesQuery>

const share = (description: string) =>
  nullable(
    Type.Number({ minimum: 0, description: `${description}; rounded to 6 decimals`, examples: [0.62] }),
  )
const dollars = (description: string, example: number) => Decimal(`${description}; US dollars`, example)

const survivalAfter = (days: number) =>
  closed({
    lines: Integer(`Agents’ lines that were still there ${days} days later`, 388),
    of: Integer(`Agents’ lines of the commits that are old enough and of which that was sent`, 431),
    share: share('`lines` ÷ `of`'),
  })

const measures = {
  pull_requests: closed(
    {
      open: Type.Integer({ examples: [3] }),
      merged: Type.Integer({ examples: [17] }),
      closed: Type.Integer({ examples: [2] }),
    },
    { description: 'In the period in which they were merged or closed, else opened' },
  ),
  merge_rate: share('merged ÷ (merged + closed)'),
  cost: dollars('Of the sessions of the group', 412.5),
  linked_cost: dollars(
    'The parts of sessions that belong to the group’s pull requests, whenever they were',
    350.25,
  ),
  linked_share: share('How much of `cost` is linked to a pull request'),
  cost_per_merged_pull_request: nullable(dollars('`linked_cost` ÷ merged', 20.602941)),
  commits: nullable(Type.Integer({ examples: [64] })),
  effective_lines: nullable(Integer('Added lines that count: docs/outcomes.md', 5210)),
  ai_lines: Integer('Those of them that agents wrote', 3230),
  ai_share: share('`ai_lines` ÷ `effective_lines`'),
  survival: nullable(closed({ '14': survivalAfter(14), '30': survivalAfter(30) })),
}

const Outcome = component('Outcome', {
  key: nullable(
    Text(
      'The first day of a month or week; a project, repository, team, agent; a member’s id, or the address where no member ' +
        'has it; null where there is none',
      '2026-03-01',
    ),
  ),
  ...measures,
})
export type Outcome = Static<typeof Outcome>

export const Outcomes = component('Outcomes', {
  data: Type.Array(Outcome),
  pagination: Pagination,
  total: closed(
    { ...measures, previous: Type.Optional(closed(measures, { description: 'In the range of `compare`' })) },
    { title: 'OutcomesTotal', description: 'It counts the items of all pages' },
  ),
})
export type Outcomes = Static<typeof Outcomes>
