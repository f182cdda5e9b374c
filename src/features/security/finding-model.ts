import { type Static, Type } from '@sinclair/typebox'
import { closed, component, nullable } from '../../analysis/records/fields.ts'
import { FindingNote, FindingStatus } from '../../analysis/records/finding.ts'
import { DateFrom, DateTo, oneOf, Page, PageOf, PerPage, textFilter } from '../../http/query.ts'
import { Finding } from '../sessions/model.ts'
import { Project } from '../usage/model.ts'

export const FindingListQuery = Type.Object({
  page: Page,
  per_page: PerPage,
  severity: Type.Optional(
    oneOf(['critical', 'high', 'medium', 'low'], {
      description: 'Only of this severity',
      examples: ['high'],
    }),
  ),
  rule_id: textFilter('Only of this rule', 'aws-access-key'),
  category: textFilter('Only of this category', 'secret', 100),
  project: Project,
  file: textFilter('Only in this file', 'src/deploy.ts', 4096),
  member: textFilter(
    'Only in sessions of this member: an id, or an address in any case',
    'ada@example.com',
    320,
  ),
  status: Type.Optional(
    oneOf(['open', 'dismissed'], { description: 'Only of this status', examples: ['open'] }),
  ),
  date_from: DateFrom,
  date_to: DateTo,
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
export const FindingPage = PageOf(ListedFinding)

export const FindingStatusBody = closed(
  { status: Type.Optional(FindingStatus), note: Type.Optional(FindingNote) },
  {
    title: 'FindingChange',
    examples: [{ status: 'open' }],
  },
)
export type FindingStatusBody = Static<typeof FindingStatusBody>
