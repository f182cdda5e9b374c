import type { Sql } from '../db/client.ts'
import { action } from '../http/route.ts'
import type { EnqueueWrite } from '../organizations/gate.ts'
import { FindingStatusBody, ListedFinding } from '../security/finding-model.ts'
import { setFindingStatus } from './finding-changes.ts'

interface FindingDeps {
  writes: Sql
  /** Runs `work` after the organization's earlier changes in this process. */
  enqueueWrite: EnqueueWrite
}

export const findingRoutes = ({ writes, enqueueWrite }: FindingDeps) => [
  action('PATCH', '/findings/:finding_id', 'admin', {
    id: 'setFindingStatus',
    summary: 'Dismiss a finding, or open it again',
    description:
      'A dismissed finding counts neither in the heatmap nor in `has_findings`, also when its session is sent again. The ' +
      'scores of sessions stay.',
    tag: 'Security',
    namesMembers: 'left out',
    body: FindingStatusBody,
    problems: (body) =>
      'note' in body && !('status' in body) ? [{ field: 'status', message: 'is needed beside note' }] : [],
    response: { 200: ListedFinding },
    handler: ({ params, body, access: { orgId, actor, own }, hidesMembers }) =>
      enqueueWrite(orgId, () =>
        setFindingStatus(writes, orgId, actor, params.finding_id, body, { hidesMembers, own }),
      ),
  }),
]
