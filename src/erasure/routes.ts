import { Type } from '@sinclair/typebox'
import type { Sql } from '../db/client.ts'
import { ApiError } from '../errors.ts'
import { action } from '../http/route.ts'
import type { EnqueueWrite } from '../organizations/gate.ts'
import { deleteByIds } from './delete-sessions.ts'

interface DeletionDeps {
  writes: Sql
  /** Runs `work` after the organization's earlier changes in this process. */
  enqueueWrite: EnqueueWrite
}

export const deletionRoutes = ({ writes, enqueueWrite }: DeletionDeps) => [
  action('DELETE', '/sessions/:session_id', 'write', {
    id: 'deleteSession',
    summary: 'Delete a session',
    description:
      'Deletes the session with its turns and findings; totals, scores and the heatmap are those without it. A sync does not store it again unless it has `?restore=true`. With the key of a member, only sessions of that member.',
    tag: 'Sessions',
    response: { 204: Type.Void({ description: 'Deleted' }) },
    handler: async ({ params, access: { orgId, actor, memberEmail } }) => {
      const deleted = await enqueueWrite(orgId, () =>
        deleteByIds(writes, orgId, actor, [params.session_id], memberEmail),
      )
      if (deleted.length === 0) throw new ApiError('NOT_FOUND', 'no such session')
    },
  }),
]
