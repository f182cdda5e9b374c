import { type RouteDeps, read } from '../http/route.ts'
import { RiskDetail, RiskListQuery, RiskPage } from './model.ts'
import { listRisks } from './queries.ts'
import { getRisk } from './session-queries.ts'

export const riskRoutes = ({ sql }: RouteDeps) => [
  read('/risk', 'risk:read', {
    id: 'listRisks',
    summary: 'List risk scores of pull requests, newest first',
    tag: 'Risk',
    query: RiskListQuery,
    response: RiskPage,
    kept: true,
    handler: ({ query, access: { orgId } }) => listRisks(sql, orgId, query),
  }),
  read('/risk/:pr_id', 'risk:read', {
    id: 'getRisk',
    summary: 'One risk score, with the sessions that worked on the pull request',
    description:
      'Its sessions are those that name it in `pull_requests`, and those of a commit’s author that were running ' +
      'when one of its `commits` was made, and began within 30 days before; a session of several pull requests is ' +
      'divided in equal parts. Sessions of no pull request by these belong to one by project and `branch`, from 30 ' +
      'days before it was opened until it was merged or closed: the one that is open, or opened next. The ' +
      'repository’s default branch joins none. A record without `project` has that of the repository’s name, ' +
      'with or without its owner.',
    tag: 'Risk',
    response: RiskDetail,
    kept: true,
    handler: ({ params, access: { orgId, own } }) => getRisk(sql, orgId, params.pr_id, own),
  }),
]
