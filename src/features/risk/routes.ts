import { Elysia } from 'elysia'
import type { ReadDeps } from '../../http/api.ts'
import { sentAsText } from '../../http/query.ts'
import { RiskDetail } from './model.ts'
import { riskList } from './queries.ts'
import { getRisk } from './session-queries.ts'

export const riskRoutes = ({ api }: ReadDeps) =>
  new Elysia({ prefix: '/risk', tags: ['Risk'] })
    .use(api)
    .get('', ({ page }) => page(), {
      ...riskList,
      scope: 'risk:read',
      detail: { operationId: 'listRisks', summary: 'List risk scores of pull requests, newest first' },
    })
    .get(
      '/:pr_id',
      ({ cached, params, orgId, onlyMember }) =>
        cached((sql) => getRisk(sql, orgId, params.pr_id, onlyMember)),
      {
        scope: 'risk:read',
        response: sentAsText(RiskDetail),
        detail: {
          operationId: 'getRisk',
          summary: 'One risk score, with the sessions that worked on the pull request',
          description:
            'Its sessions are those that name it in `pull_requests`, and those of a commit’s author that were running ' +
            'when one of its `commits` was made, and began within 30 days before; a session of several pull requests is ' +
            'divided in equal parts. Sessions of no pull request by these belong to one by project and `branch`, from 30 ' +
            'days before it was opened until it was merged or closed: the one that is open, or opened next. The ' +
            'repository’s default branch joins none. A record without `project` has that of the repository’s name, ' +
            'with or without its owner.',
        },
      },
    )
