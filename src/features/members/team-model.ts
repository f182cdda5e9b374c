import { type Static, Type } from '@sinclair/typebox'
import { closed, component, nullable, Timestamp } from '../../analysis/records/fields.ts'
import { Role } from '../../analysis/records/member.ts'
import { Page, PageOf, PerPage, textFilter } from '../../http/query.ts'

// The schemas of the team's routes: members, expertise, machines, coverage.

const userId = { examples: ['user_7h2k9d'] }
const domain = Type.String({
  description: 'project and top-level directory; `.` for files beside the directories',
  examples: ['checkout/src'],
})

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
    sessions_last_7d: Type.Integer({ description: 'sessions in the 168 hours before now' }),
    active_members_last_7d: Type.Integer({ description: 'members with at least one of them' }),
  }),
})
export type TeamOverview = Static<typeof TeamOverview>

const DomainExpertise = closed({
  domain,
  score: Type.Number({
    description: '0 to 100: mean degree of authorship of the files, weighted with ln(1 + commits)',
    examples: [71.42],
  }),
  commits: Type.Integer({ description: 'their commits that touched the domain' }),
  sessions: Type.Integer({ description: 'their sessions that touched files of the domain' }),
  files_owned: Type.Integer({
    description: 'files with at least 0.75 of the greatest degree of authorship',
  }),
  ownership_percent: Type.Number({ description: 'files_owned in percent of the files', examples: [58.33] }),
  is_primary_owner: Type.Boolean({ description: 'owns most files of the domain' }),
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
      score: Type.Optional(
        Type.Number({ description: 'With `path`: 0 to 100, by what they wrote of the file itself' }),
      ),
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
      files: Type.Integer({ description: 'files that are there and that people changed' }),
      bus_factor: Type.Integer({
        description: 'authors whose removal leaves more than half of the files without one',
      }),
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

export const MachineListQuery = Type.Object({ page: Page, per_page: PerPage })
export type MachineListQuery = Static<typeof MachineListQuery>

const orNull = (schema: ReturnType<typeof Type.String>) => Type.Union([schema, Type.Null()])

/** A member, or an address or id of none. */
const member = (description: string) =>
  Type.Union(
    [
      closed({
        id: orNull(Type.String({ ...userId, description: 'null while no member has the address' })),
        email: orNull(
          Type.String({ examples: ['ada@example.com'], description: 'null for an id of no member' }),
        ),
      }),
      Type.Null(),
    ],
    { description },
  )

export const Machine = component('Machine', {
  member: member('Whose sessions it sends; null where its requests had no user, or several'),
  machine: Type.String({ description: 'as in X-Machine', examples: ['ada-macbook.local'] }),
  last_seen_at: Timestamp('When it sent records, to the minute; UTC, milliseconds'),
  sessions: Type.Integer({
    description: 'sessions that were new when it sent them, deleted ones included',
    examples: [214],
  }),
})
export const MachinePage = PageOf(Machine)
export type MachinePage = Static<typeof MachinePage>

export const CoverageListQuery = Type.Object({ page: Page, per_page: PerPage })
export type CoverageListQuery = Static<typeof CoverageListQuery>

const Coverage = component('Coverage', {
  member: member('Whose sessions; null for those without a user'),
  agent: orNull(Type.String({ examples: ['claude-code'] })),
  sessions: Type.Integer({ examples: [42] }),
  transcript_tokens: Type.Integer({
    description: 'of all four kinds, as transcripts and clients state them',
    examples: [1_284_213],
  }),
  telemetry_tokens: Type.Integer({ description: 'as telemetry states them', examples: [964_120] }),
  captured_share: Type.Union([Type.Number(), Type.Null()], {
    description:
      'The part of the transcripts’ tokens that telemetry had too, 0 to 1: for each session no more than its transcript. Null without any transcript',
    examples: [0.7507],
  }),
  last_seen_at: Timestamp('When the newest of the sessions ended; UTC, milliseconds'),
})
export const CoveragePage = PageOf(Coverage)
export type CoveragePage = Static<typeof CoveragePage>
