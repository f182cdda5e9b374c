// The schemas of the team's routes: members, expertise, machines, coverage.

import { type Static, Type } from '@sinclair/typebox'
import {
  closed,
  component,
  Decimal,
  Flag,
  Integer,
  nullable,
  Text,
  Timestamp,
} from '../../analysis/records/fields.ts'
import { Role } from '../../analysis/records/member.ts'
import { PageOf, textFilter } from '../../http/query.ts'

const userId = { examples: ['user_7h2k9d'] }
const domain = Text('project and top-level directory; `.` for files beside the directories', 'checkout/src')

const Member = closed({
  id: Type.String(userId),
  email: Type.String({ examples: ['ada@example.com'] }),
  display_name: Type.String({ examples: ['Ada'] }),
  role: Role,
  joined_at: Timestamp('UTC, milliseconds'),
  team: nullable(Type.String({ examples: ['payments'] })),
})
export type Member = Static<typeof Member>

export const TeamOverview = component('TeamOverview', {
  members: Type.Array(Member, { description: 'by joined_at, then id' }),
  activity_summary: closed({
    sessions_last_7d: Integer('sessions in the 168 hours before now'),
    active_members_last_7d: Integer('members with at least one of them'),
  }),
})
export type TeamOverview = Static<typeof TeamOverview>

const DomainExpertise = closed({
  domain,
  score: Decimal('0 to 100: mean degree of authorship of the files, weighted with ln(1 + commits)', 71.42),
  commits: Integer('their commits that touched the domain'),
  sessions: Integer('their sessions that touched files of the domain'),
  files_owned: Integer('files with at least 0.75 of the greatest degree of authorship'),
  ownership_percent: Decimal('files_owned in percent of the files', 58.33),
  is_primary_owner: Flag('owns most files of the domain'),
  last_active_at: Timestamp('their latest commit to a file that is there; UTC, milliseconds'),
})
export type DomainExpertise = Static<typeof DomainExpertise>

export const ExpertiseQuery = Type.Object({
  path: textFilter(
    'Only who knows this file, and the domains that it is of; a name without a folder that is no file means the files of this name',
    'src/deploy.ts',
    4096,
  ),
})
export type ExpertiseQuery = Static<typeof ExpertiseQuery>

export const Expertise = component('Expertise', {
  data: Type.Array(
    closed({
      user_id: Type.Union([Type.String(), Type.Null()], {
        description: 'null for an owner of files whose address is no member’s',
        ...userId,
      }),
      display_name: Type.String({ examples: ['Ada'] }),
      score: Type.Optional(Decimal('With `path`: 0 to 100, by what they wrote of the file itself')),
      domains: Type.Array(DomainExpertise, { description: 'by score descending, then domain' }),
    }),
    {
      description:
        'members by joined_at, then id; then authors who are no members, by name. With `path` by `score`',
    },
  ),
  domains: Type.Array(
    closed({
      domain,
      files: Integer('files that are there and that people changed'),
      bus_factor: Integer('authors whose removal leaves more than half of the files without one'),
      primary_owner_id: Type.Union([Type.String(), Type.Null()], {
        description: 'null when the primary owner is no member',
        examples: ['user_7h2k9d'],
      }),
    }),
    { description: 'by domain' },
  ),
  files: Type.Optional(
    Type.Array(Type.String({ examples: ['src/auth/login.go'] }), {
      description: 'With a `path` that is only a name: the files, at most 20, that it means and `data` is of',
    }),
  ),
})
export type Expertise = Static<typeof Expertise>

/** A member, or an address or id of none. */
const member = (description: string) =>
  Type.Union(
    [
      closed({
        id: nullable(Type.String({ ...userId, description: 'null while no member has the address' })),
        email: nullable(Text('null for an id of no member', 'ada@example.com')),
      }),
      Type.Null(),
    ],
    { description },
  )

export const Machine = component('Machine', {
  member: member('Whose sessions it sends; null where its requests had no user, or several'),
  machine: Text('as in X-Machine', 'ada-macbook.local'),
  last_seen_at: Timestamp('When it sent records, to the minute; UTC, milliseconds'),
  sessions: Integer('sessions that were new when it sent them, deleted ones included', 214),
})
export const MachinePage = PageOf(Machine)
export type MachinePage = Static<typeof MachinePage>

const Coverage = component('Coverage', {
  member: member('Whose sessions; null for those without a user'),
  agent: nullable(Type.String({ examples: ['claude-code'] })),
  sessions: Type.Integer({ examples: [42] }),
  transcript_tokens: Integer('of all four kinds, as transcripts and clients state them', 1_284_213),
  telemetry_tokens: Integer('as telemetry states them', 964_120),
  captured_share: Type.Union([Type.Number(), Type.Null()], {
    description:
      'The part of the transcripts’ tokens that telemetry had too, 0 to 1: for each session no more than its transcript. Null without any transcript',
    examples: [0.7507],
  }),
  last_seen_at: Timestamp('When the newest of the sessions ended; UTC, milliseconds'),
})
export const CoveragePage = PageOf(Coverage)
export type CoveragePage = Static<typeof CoveragePage>
