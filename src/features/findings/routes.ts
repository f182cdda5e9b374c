import { Elysia } from 'elysia'
import type { ChangeDeps } from '../../http/api.ts'
import { FindingStatusBody, ListedFinding } from '../security/finding-model.ts'
import { setFindingStatus } from './finding-changes.ts'

export const findingRoutes = ({ writes, enqueueWrite, api }: ChangeDeps) =>
  new Elysia({ tags: ['Security'] }).use(api).patch(
    '/findings/:finding_id',
    ({ params, body, access: { orgId, actor, onlyMember }, hidesMembers }) =>
      enqueueWrite(orgId, () =>
        setFindingStatus(writes, orgId, actor, params.finding_id, body, {
          hidesMembers,
          onlyMember,
        }),
      ),
    {
      scope: 'admin',
      members: 'left out',
      body: FindingStatusBody,
      check: ({ body }: { body: object }) =>
        'note' in body && !('status' in body) ? [{ field: 'status', message: 'is needed beside note' }] : [],
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
