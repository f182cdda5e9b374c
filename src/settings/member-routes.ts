import { Type } from '@sinclair/typebox'
import type { ISql } from '../db/client.ts'
import { action, type RouteDeps, read } from '../http/route.ts'
import { invitationUrl } from '../people/invitation-queries.ts'
import { addMember, changeMember, inviteMember, removeWholeMember } from '../sync/member-changes.ts'
import { changerOf, type SettingsDeps } from './deps.ts'
import {
  Invitation,
  Member,
  MemberChangeBody,
  MemberListQuery,
  MemberPage,
  NewMemberBody,
} from './member-model.ts'
import { getListedMember, listMemberPage } from './member-queries.ts'

const tag = 'Settings'

export const memberRoutes = (
  { sql, config, now }: RouteDeps,
  { writes, enqueueWrite, listenUrl }: SettingsDeps,
) => {
  const change = <Result>(orgId: string, work: (tx: ISql) => Promise<Result>) =>
    enqueueWrite(orgId, () => writes.begin(work) as Promise<Result>)
  return [
    read('/members', 'admin', {
      id: 'listMembers',
      summary: 'List the members, the first to join first',
      tag,
      query: MemberListQuery,
      response: MemberPage,
      namesMembers: true,
      handler: ({ query, access: { orgId } }) => listMemberPage(sql, orgId, query),
    }),
    action('POST', '/members', 'admin', {
      id: 'addMember',
      summary: 'Add a member',
      tag,
      body: NewMemberBody,
      response: { 201: Member },
      location: ({ id }: Member) => `/members/${id}`,
      namesMembers: true,
      handler: ({ body, access }) =>
        change(access.orgId, async (tx) => {
          const { id } = await addMember(tx, access.orgId, changerOf(access), body, now())
          return await getListedMember(tx, access.orgId, id)
        }),
    }),
    action('PATCH', '/members/:user_id', 'admin', {
      id: 'changeMember',
      summary: 'Change a member',
      tag,
      body: MemberChangeBody,
      response: { 200: Member },
      namesMembers: true,
      handler: ({ params: { user_id: id }, body, access }) =>
        change(access.orgId, async (tx) => {
          await changeMember(tx, access.orgId, changerOf(access), id, body)
          return await getListedMember(tx, access.orgId, id)
        }),
    }),
    action('POST', '/members/:user_id/invitation', 'admin', {
      id: 'inviteMember',
      summary: 'Make a link by which a member sets a password',
      description: 'Valid for 7 days and once. A new one replaces the old. It is in this answer only.',
      tag,
      response: { 201: Invitation },
      location: (_made, { user_id }) => `/members/${encodeURIComponent(user_id)}`,
      namesMembers: true,
      handler: async ({ params: { user_id: id }, access }) => {
        const { token, expires_at } = await change(access.orgId, (tx) =>
          inviteMember(tx, access.orgId, changerOf(access), id),
        )
        return { url: invitationUrl(config.publicUrl ?? listenUrl(), token), expires_at }
      },
    }),
    action('DELETE', '/members/:user_id', 'admin', {
      id: 'removeMember',
      summary: 'Remove a member',
      description: 'Their sessions of the browser and the keys that are bound to them end.',
      tag,
      response: { 204: Type.Void({ description: 'Removed' }) },
      handler: ({ params, access }) =>
        change(access.orgId, (tx) => removeWholeMember(tx, access.orgId, changerOf(access), params.user_id)),
    }),
  ]
}
