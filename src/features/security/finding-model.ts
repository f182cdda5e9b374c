import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { closed, component, nullable } from '../../analysis/records/fields.ts'
import { FINDING_STATES, FindingNote, FindingStatus } from '../../analysis/records/finding.ts'
import { choiceOf, DayRange, filterOrNone, oneOfOr, Paged, PageOf, textFilter } from '../../http/query.ts'
import { Finding } from '../sessions/model.ts'
import { Project } from '../usage/model.ts'

export const FindingListQuery = Type.Object({
  ...Paged,
  severity: choiceOf(['critical', 'high', 'medium', 'low'], 'Only of this severity', 'high'),
  rule_id: textFilter('Only of this rule', 'aws-access-key'),
  category: textFilter('Only of this category', 'secret', 100),
  project: Project,
  file: textFilter('Only in this file', 'src/deploy.ts', 4096),
  member: textFilter(
    'Only in sessions of this member: an id, or an address in any case',
    'ada@example.com',
    320,
  ),
  status: choiceOf(FINDING_STATES, 'Only of this status', 'open'),
  assignee: filterOrNone(
    'Only those of this assignee: an id, or an address in any case; empty: of nobody',
    320,
    'user_7h2k9d',
  ),
  ...DayRange,
  sort: oneOfOr(
    ['created_at', 'severity'],
    'created_at',
    'The newest first, or the most severe and of these the newest',
  ),
  include: choiceOf(
    ['counts'],
    '`counts`: also how many match by severity, and what has most of them',
    'counts',
  ),
})
export type FindingListQuery = Static<typeof FindingListQuery>

export const ListedFinding = component('ListedFinding', {
  ...Finding.properties,
  session_id: Type.String({ examples: ['sess_4f1c2a'] }),
  project: nullable(Type.String({ examples: ['checkout'] })),
  member: nullable(
    closed(
      { id: nullable(Type.String()), email: nullable(Type.String()) },
      { description: 'Whose session it is; null where that is not known, or not shown' },
    ),
  ),
})
export type ListedFinding = Static<typeof ListedFinding>
const count = Type.Integer({ examples: [12] })
const most = <Key extends TSchema>(key: Key, description: string) =>
  Type.Array(closed({ key, findings: count }), {
    description: `${description} with most of them, at most three`,
  })
const whose = {
  project: most(nullable(Type.String({ examples: ['checkout'] })), 'Projects'),
  member: most(ListedFinding.properties.member, 'Members'),
}

export const FindingPage = Type.Object(
  {
    ...PageOf(ListedFinding).properties,
    counts: Type.Optional(
      closed(
        {
          severity: closed({ critical: count, high: count, medium: count, low: count }),
          category: Type.Array(
            closed({ key: Type.String({ examples: ['secret'] }), findings: count, ...whose }),
            { description: 'Categories with most of them, at most ten' },
          ),
          ...whose,
        },
        { title: 'FindingCounts', description: 'With `include=counts`, of all pages' },
      ),
    ),
  },
  { additionalProperties: false, title: 'ListedFindingPage' },
)
export type FindingPage = Static<typeof FindingPage>

export const FindingStatusBody = closed(
  {
    status: Type.Optional(FindingStatus),
    note: Type.Optional(FindingNote),
    assignee: Type.Optional(
      nullable(
        Type.String({
          maxLength: 320,
          description: 'Who is to mend it: a member’s id, or an address in any case; null: nobody',
          examples: ['ada@example.com'],
        }),
      ),
    ),
  },
  {
    title: 'FindingChange',
    examples: [{ status: 'open' }],
  },
)
export type FindingStatusBody = Static<typeof FindingStatusBody>
