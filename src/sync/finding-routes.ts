import { Elysia } from 'elysia'
import type { Sql } from '../db/client.ts'
import type { RouteDeps } from '../http/api.ts'
import type { EnqueueWrite } from '../organizations/gate.ts'
import { FindingStatusBody, ListedFinding } from '../security/finding-model.ts'
import { setFindingStatus } from './finding-changes.ts'

interface FindingDeps extends Pick<RouteDeps, 'api'> {
  writes: Sql
  /** Runs `work` after the organization's earlier changes in this process. */
  enqueueWrite: EnqueueWrite
}

export const findingRoutes = ({ writes, enqueueWrite, api }: FindingDeps) =>
  new Elysia({ tags: ['Security'] })
    .use(api)
    .patch(
      '/findings/:finding_id',
      ({ params, body, access: { orgId, actor, own }, hidesMembers }) =>
        enqueueWrite(orgId, () =>
          setFindingStatus(writes, orgId, actor, params.finding_id, body, { hidesMembers, own }),
        ),
      {
        scope: 'admin',
        members: 'left out',
        body: FindingStatusBody,
        check: ({ body }: { body: object }) =>
          'note' in body && !('status' in body)
            ? [{ field: 'status', message: 'is needed beside note' }]
            : [],
        response: ListedFinding,
        detail: {
          operationId: 'setFindingStatus',
          summary: 'Dismiss a finding, or open it again',
          description:
            'A dismissed finding counts neither in the heatmap nor in `has_findings`, also when its session is sent again. The ' +
            'scores of sessions stay.',
        },
      },
    )
