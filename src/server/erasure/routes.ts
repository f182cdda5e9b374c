import { Type } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { ApiError } from '../../base/errors.ts'
import type { RouteDeps } from '../../http/api.ts'

export const deletionRoutes = ({ writes, enqueueWrite, api }: RouteDeps) =>
  new Elysia({ tags: ['Sessions'] }).use(api).delete(
    '/sessions/:session_id',
    async ({ params, orgId, actor, access: { memberEmail } }) => {
      const { deleteByIds } = await import('./delete-sessions.ts')
      const deleted = await enqueueWrite(orgId, () =>
        deleteByIds(writes, orgId, actor, [params.session_id], memberEmail),
      )
      if (deleted.length === 0) throw new ApiError('NOT_FOUND', 'no such session')
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
