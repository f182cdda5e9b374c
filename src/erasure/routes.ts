import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Sql } from '../db/client.ts'
import { ApiError } from '../errors.ts'
import { access, guard, type RouteDeps } from '../http/access.ts'
import type { EnqueueWrite } from '../organizations/queue.ts'
import { deleteByIds } from './delete-sessions.ts'

interface DeletionDeps {
  writes: Sql
  /** Runs `work` after the organization's earlier changes in this process. */
  enqueueWrite: EnqueueWrite
}

export const deletionRoutes = (deps: RouteDeps, { writes, enqueueWrite }: DeletionDeps) =>
  new Elysia().use(access(deps)).delete(
    '/sessions/:session_id',
    async ({ params, set, access: { orgId, actor, memberEmail } }) => {
      const deleted = await enqueueWrite(orgId, () =>
        deleteByIds(writes, orgId, actor, [params.session_id], memberEmail),
      )
      if (deleted.length === 0) throw new ApiError('NOT_FOUND', 'no such session')
      set.status = 204
    },
    {
      ...guard('write', { response: { 204: Type.Void({ description: 'Deleted' }) } }),
      detail: {
        operationId: 'deleteSession',
        summary: 'Delete a session',
        description:
          'Deletes the session with its turns and findings; totals, scores and the heatmap are those without it. A sync does not store it again unless it has `?restore=true`. With the key of a member, only sessions of that member.',
        tags: ['Sessions'],
      },
    },
  )
