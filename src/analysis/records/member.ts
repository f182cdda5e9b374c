// The record of a member, with roles and teams.

import { type Static, Type } from '@sinclair/typebox'
import { ROLES } from '../../config.ts'
import { component, literals, name, optional, Timestamp } from './fields.ts'

export const Role = literals(ROLES)
export type Role = Static<typeof Role>

export const Team = Type.String({
  minLength: 1,
  maxLength: 100,
  description: 'Null for none. Without this field the one that is stored stays',
  examples: ['payments'],
})

export const MemberRecord = component('MemberRecord', {
  type: Type.Literal('member'),
  email: Type.String({ format: 'email', maxLength: 320 }),
  display_name: name(200),
  role: Role,
  joined_at: Timestamp(),
  team: optional(Team),
  aliases: optional(
    Type.Array(Type.String({ format: 'email', maxLength: 320 }), {
      maxItems: 50,
      description:
        'Other addresses of the member, all of them; [] for none. Without this field those that are stored stay',
      examples: [['ada@users.noreply.github.com']],
    }),
  ),
  id: optional(Type.String({ pattern: '^user_[A-Za-z0-9_-]{1,64}$', examples: ['user_4f1c2a'] })),
})
export type MemberRecord = Static<typeof MemberRecord>
