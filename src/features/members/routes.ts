import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { invitationUrl } from '../../accounts/people/invitation-queries.ts'
import { checked } from '../../analysis/records/problems.ts'
import type { RouteDeps } from '../../http/api.ts'
import { fixedFields } from '../../http/declared.ts'
import {
  addMember,
  changeMember,
  changerOf,
  inviteMember,
  inviteMembers,
  removeWholeMember,
} from './member-changes.ts'
import {
  Invitation,
  Invitations,
  InvitationsBody,
  Member,
  MemberChangeBody,
  MemberListQuery,
  MemberPage,
  NewMemberBody,
  repeatedAddresses,
} from './model.ts'
import { getListedMember, listMemberPage } from './queries.ts'

const needs = { scope: 'admin', members: true } as const

export const memberRoutes = ({ read, config, now, api, inTurn, listenUrl }: RouteDeps) =>
  new Elysia({ prefix: '/members', tags: ['Settings'] })
    .use(api)
    .get('', ({ query, orgId }) => read(orgId, (sql) => listMemberPage(sql, orgId, query)), {
      ...needs,
      query: MemberListQuery,
      response: MemberPage,
      detail: { operationId: 'listMembers', summary: 'List the members, the first to join first' },
    })
    .post(
      '',
      ({ body, orgId, access }) =>
        inTurn(orgId, async (tx) => {
          const { id } = await addMember(tx, orgId, changerOf(access), body, now())
          return await getListedMember(tx, orgId, id)
        }),
      {
        ...needs,
        body: NewMemberBody,
        response: { 201: Member },
        detail: { operationId: 'addMember', summary: 'Add a member' },
      },
    )
    .patch(
      '/:user_id',
      ({ params: { user_id: id }, body, orgId, access }) =>
        inTurn(orgId, async (tx) => {
          await changeMember(tx, orgId, changerOf(access), id, body, now())
          return await getListedMember(tx, orgId, id)
        }),
      {
        ...needs,
        body: MemberChangeBody,
        ignores: fixedFields(Member, MemberChangeBody),
        response: Member,
        detail: { operationId: 'changeMember', summary: 'Change a member' },
      },
    )
    .post(
      '/:user_id/invitation',
      async ({ params, path, set, orgId, access }) => {
        const { token, expires_at } = await inTurn(orgId, (tx) =>
          inviteMember(tx, orgId, changerOf(access), params.user_id),
        )
        set.headers.location = path.replace(/\/invitation\/?$/, '')
        return { url: invitationUrl(config.publicUrl ?? listenUrl(), token), expires_at }
      },
      {
        ...needs,
        response: { 201: Invitation },
        detail: {
          operationId: 'inviteMember',
          summary: 'Make a link by which a member sets a password',
          description: 'Valid for 7 days and once. A new one replaces the old. It is in this answer only.',
        },
      },
    )
    .post(
      '/invitations',
      async ({ body, path, set, orgId, access }) => {
        const invited = await inTurn(orgId, (tx) => inviteMembers(tx, orgId, changerOf(access), body, now()))
        set.headers.location = path.replace(/\/invitations\/?$/, '')
        const base = config.publicUrl ?? listenUrl()
        return { data: invited.map(({ token, ...shown }) => ({ ...shown, url: invitationUrl(base, token) })) }
      },
      {
        ...needs,
        body: checked(InvitationsBody, repeatedAddresses),
        response: { 201: Invitations },
        detail: {
          operationId: 'inviteMembers',
          summary: 'Make links for up to 200 people',
          description:
            'Who is no member becomes one; who is a member stays as they are and gets a new link. All or nobody: one mistake, and nothing is changed.',
        },
      },
    )
    .delete(
      '/:user_id',
      async ({ params, orgId, access }) => {
        await inTurn(orgId, (tx) => removeWholeMember(tx, orgId, changerOf(access), params.user_id))
      },
      {
        scope: 'admin',
        response: { 204: Type.Void({ description: 'Removed' }) },
        detail: {
          operationId: 'removeMember',
          summary: 'Remove a member',
          description: 'Their sessions of the browser and the keys that are bound to them end.',
        },
      },
    )
