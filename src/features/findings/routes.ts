import { Elysia } from 'elysia'
import { checked } from '../../analysis/records/problems.ts'
import { problemIf } from '../../base/errors.ts'
import type { RouteDeps } from '../../http/api.ts'
import { FindingStatusBody, ListedFinding } from '../security/finding-model.ts'

export const findingRoutes = ({ writes, enqueueWrite, api }: RouteDeps) =>
  new Elysia({ tags: ['Security'] }).use(api).patch(
    '/findings/:finding_id',
    ({ params, body, orgId, actor, seen }) =>
      enqueueWrite(orgId, async () => {
        const { setFindingStatus } = await import('./finding-changes.ts')
        return await setFindingStatus(writes, orgId, actor, params.finding_id, body, seen)
      }),
    {
      scope: 'admin',
      members: 'left out',
      body: checked(FindingStatusBody, (body) =>
        problemIf('note' in body && !('status' in body), 'status', 'is needed beside note'),
      ),
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
