import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { publicPath } from '../config.ts'
import type { ISql } from '../db/client.ts'
import { lockOrganization } from '../db/org-lock.ts'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { createInvitation, invitationUrl } from '../people/invitation-queries.ts'
import {
  addMember,
  changeMember,
  getMember,
  refuseForOwners,
  removeWholeMember,
} from '../sync/member-changes.ts'
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

const tags = ['Settings']

export const memberRoutes = (deps: RouteDeps, { writes, enqueueWrite, listenUrl }: SettingsDeps) => {
  const prefix = publicPath(deps.config)
  const change = <Result>(orgId: string, work: (tx: ISql) => Promise<Result>) =>
    enqueueWrite(orgId, () => writes.begin(work) as Promise<Result>)
  return new Elysia()
    .use(access(deps))
    .get('/members', ({ query, access: { orgId } }) => listMemberPage(deps.sql, orgId, query), {
      ...guard('admin', { query: MemberListQuery, response: { 200: MemberPage }, namesMembers: true }),
      detail: { operationId: 'listMembers', summary: 'List the members, the first to join first', tags },
    })
    .post(
      '/members',
      async ({ body, request, set, access }) => {
        const { orgId } = access
        const created = await change(orgId, async (tx) => {
          const { id } = await addMember(tx, orgId, changerOf(access), body, deps.now())
          return await getListedMember(tx, orgId, id)
        })
        set.status = 201
        set.headers.location = `${prefix}${new URL(request.url).pathname}/${created.id}`
        return created
      },
      {
        ...guard('admin', { body: NewMemberBody, response: { 201: Member }, namesMembers: true }),
        detail: { operationId: 'addMember', summary: 'Add a member', tags },
      },
    )
    .patch(
      '/members/:user_id',
      ({ params, body, access }) =>
        change(access.orgId, async (tx) => {
          await changeMember(tx, access.orgId, changerOf(access), params.user_id, body)
          return await getListedMember(tx, access.orgId, params.user_id)
        }),
      {
        ...guard('admin', { body: MemberChangeBody, response: { 200: Member }, namesMembers: true }),
        detail: { operationId: 'changeMember', summary: 'Change a member', tags },
      },
    )
    .post(
      '/members/:user_id/invitation',
      async ({ params: { user_id: id }, request, set, access }) => {
        const { orgId, actor } = access
        const { token, expires_at } = await change(orgId, async (tx) => {
          await lockOrganization(tx, orgId)
          refuseForOwners(changerOf(access), await getMember(tx, orgId, id), 'user_id')
          return await createInvitation(tx, orgId, id, actor)
        })
        set.status = 201
        set.headers.location = `${prefix}${new URL(request.url).pathname.replace(/\/invitation$/, '')}`
        return { url: invitationUrl(deps.config.publicUrl ?? listenUrl(), token), expires_at }
      },
      {
        ...guard('admin', { response: { 201: Invitation }, namesMembers: true }),
        detail: {
          operationId: 'inviteMember',
          summary: 'Make a link by which a member sets a password',
          description: 'Valid for 7 days and once. A new one replaces the old. It is in this answer only.',
          tags,
        },
      },
    )
    .delete(
      '/members/:user_id',
      async ({ params, set, access }) => {
        await change(access.orgId, (tx) =>
          removeWholeMember(tx, access.orgId, changerOf(access), params.user_id),
        )
        set.status = 204
      },
      {
        ...guard('admin', { response: { 204: Type.Void({ description: 'Removed' }) } }),
        detail: {
          operationId: 'removeMember',
          summary: 'Remove a member',
          description: 'Their sessions of the browser and the keys that are bound to them end.',
          tags,
        },
      },
    )
}
