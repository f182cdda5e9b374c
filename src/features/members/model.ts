import { type Static, Type } from '@sinclair/typebox'
import { closed, component, name, nullable, Text, Timestamp } from '../../analysis/records/fields.ts'
import { Role, Team } from '../../analysis/records/member.ts'
import { type FieldProblem, problemIf } from '../../base/errors.ts'
import { asciiLower } from '../../base/text.ts'
import { ROLES } from '../../config.ts'
import { choiceOf, oneOf, Paged, PageOf } from '../../http/query.ts'

const Address = Type.String({ format: 'email', maxLength: 320, examples: ['ada@example.com'] })

export const Member = component('Member', {
  id: Type.String({ examples: ['user_7h2k9d'] }),
  email: Type.String({ examples: ['ada@example.com'] }),
  display_name: Type.String({ examples: ['Ada Lovelace'] }),
  role: Role,
  aliases: Type.Array(Type.String(), { description: 'Other addresses of the member' }),
  joined_at: Timestamp('UTC, milliseconds'),
  team: nullable(Type.String({ examples: ['payments'] })),
  last_signed_in_at: nullable(Timestamp('UTC, milliseconds')),
  status: oneOf(['active', 'invited'], {
    description: '`invited`: an invitation is open that the member has not accepted',
  }),
})
export type Member = Static<typeof Member>

export const MemberListQuery = Type.Object({
  ...Paged,
  q: Type.Optional(
    Type.String({ minLength: 1, maxLength: 320, description: 'Part of the address or name, in any case' }),
  ),
  role: choiceOf(ROLES, 'Only this role'),
})
export type MemberListQuery = Static<typeof MemberListQuery>
export const MemberPage = PageOf(Member)
export type MemberPage = Static<typeof MemberPage>

export const NewMemberBody = closed(
  {
    email: Address,
    display_name: name(200),
    role: Role,
    team: Type.Optional(nullable(Team)),
  },
  {
    title: 'NewMember',
    examples: [
      { email: 'grace@example.com', display_name: 'Grace Hopper', role: 'developer', team: 'payments' },
    ],
  },
)

export const MemberChangeBody = closed(
  {
    display_name: Type.Optional(name(200)),
    role: Type.Optional(Role),
    team: Type.Optional(nullable(Team)),
    aliases: Type.Optional(
      Type.Array(Address, { maxItems: 50, description: 'All other addresses of the member; [] for none' }),
    ),
  },
  { title: 'MemberChange', examples: [{ display_name: 'Ada Lovelace' }] },
)
export type MemberChange = Static<typeof MemberChangeBody>

export const InvitationsBody = closed(
  {
    members: Type.Array(
      closed(
        {
          email: Address,
          display_name: Type.Optional(
            Type.String({ ...name(200), description: 'The part of the address before the @ unless given' }),
          ),
          role: Role,
          team: Type.Optional(nullable(Team)),
        },
        { title: 'InvitedMember' },
      ),
      { minItems: 1, maxItems: 200 },
    ),
  },
  {
    title: 'NewInvitations',
    examples: [{ members: [{ email: 'lin@example.com', display_name: 'Lin Chen', role: 'developer' }] }],
  },
)
export type InvitationsBody = Static<typeof InvitationsBody>

/** Finds addresses that are there twice. */
export function repeatedAddresses({ members }: { members?: unknown }): FieldProblem[] {
  const emails = new Set<string>()
  return (Array.isArray(members) ? members : []).flatMap((member, index) => {
    const email = asciiLower(String(member?.email))
    const isRepeated = emails.has(email)
    emails.add(email)
    return problemIf(isRepeated, `members[${index}].email`, 'must be given once')
  })
}

export const Invitations = component('Invitations', {
  data: Type.Array(
    closed({
      id: Type.String({ examples: ['user_7h2k9d'] }),
      email: Type.String({ examples: ['ada@example.com'] }),
      url: Text('The link for this member; shown in this answer only'),
      expires_at: Timestamp('UTC, milliseconds'),
    }),
    { description: 'In the order of the request' },
  ),
})

export const Invitation = component('Invitation', {
  url: Text('The link by which the member sets a password, once; shown in this answer only'),
  expires_at: Timestamp('UTC, milliseconds'),
})
