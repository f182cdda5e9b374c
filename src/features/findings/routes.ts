// PATCH /findings/:finding_id: decides a finding. GET /findings is in features/security.

import { Elysia } from 'elysia'
import { checked } from '../../analysis/records/problems.ts'
import { problemIf } from '../../base/errors.ts'
import type { RouteDeps } from '../../http/api.ts'
import { FindingStatusBody, ListedFinding } from '../security/finding-model.ts'

export const findingRoutes = ({ writes, enqueueWrite, api }: RouteDeps) =>
  new Elysia({ tags: ['Security'] }).use(api).patch(
    '/findings/:finding_id',
    ({ params, body, orgId, access, viewer }) =>
      enqueueWrite(orgId, async () => {
        const { changeFinding } = await import('./finding-changes.ts')
        return await changeFinding(writes, access, params.finding_id, body, viewer)
      }),
    {
      scope: 'admin or security:read',
      members: 'left out',
      body: checked(FindingStatusBody, (body) =>
        problemIf(Object.keys(body).length === 0, 'status', 'or note or assignee is required'),
      ),
      response: ListedFinding,
      detail: {
        operationId: 'setFindingStatus',
        summary: 'Decide about a finding: fixed, accepted, dismissed, or open again; assign it',
        description:
          'Only open findings count in lists, the heatmap and `has_findings`, also when a session is sent again. A dismissed one is a ' +
          'false alarm; a fixed one that a session begun later shows is open again. The scores of sessions stay. A key without ' +
          'the scope `admin`, and a person who is no admin, may set `fixed` and `open` of findings that are assigned to them.',
      },
    },
  )
