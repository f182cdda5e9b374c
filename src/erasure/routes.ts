import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Sql } from '../db/client.ts'
import { ApiError } from '../errors.ts'
import type { RouteDeps } from '../http/api.ts'
import type { EnqueueWrite } from '../organizations/gate.ts'
import { deleteByIds } from './delete-sessions.ts'

interface DeletionDeps extends Pick<RouteDeps, 'api'> {
  writes: Sql
  /** Runs `work` after the organization's earlier changes in this process. */
  enqueueWrite: EnqueueWrite
}

export const deletionRoutes = ({ writes, enqueueWrite, api }: DeletionDeps) =>
  new Elysia({ tags: ['Sessions'] }).use(api).delete(
    '/sessions/:session_id',
    async ({ params, status, access: { orgId, actor, memberEmail } }) => {
      const deleted = await enqueueWrite(orgId, () =>
        deleteByIds(writes, orgId, actor, [params.session_id], memberEmail),
      )
      if (deleted.length === 0) throw new ApiError('NOT_FOUND', 'no such session')
      return status(204, undefined)
    },
    {
      scope: 'write',
      response: { 204: Type.Void({ description: 'Deleted' }) },
      detail: {
        operationId: 'deleteSession',
        summary: 'Delete a session',
        description:
          'Deletes the session with its turns and findings; totals, scores and the heatmap are those without it. A sync does not store it again unless it has `?restore=true`. With the key of a member, only sessions of that member.',
      },
    },
  )
