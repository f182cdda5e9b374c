import { Elysia } from 'elysia'
import type { RouteDeps } from '../../http/api.ts'
import type { SecretBox } from '../../webhooks/signing/secret-box.ts'
import { BadgeToken, OrganizationChangeBody, OrganizationSettings } from './model.ts'
import { changeSettings, getSettings, replaceBadgeToken } from './queries.ts'
import { settingsProblems } from './settings-check.ts'

export const organizationRoutes = ({ api, inTurn }: RouteDeps, box: SecretBox) =>
  new Elysia({ prefix: '/organization', tags: ['Settings'] })
    .use(api)
    .get('', ({ sql, orgId }) => getSettings(sql, orgId), {
      scope: 'admin or read',
      response: OrganizationSettings,
      detail: { operationId: 'getOrganization', summary: 'The organization’s settings' },
    })
    .patch(
      '',
      ({ body, orgId, actor }) => inTurn(orgId, (tx) => changeSettings(tx, orgId, actor, body, box)),
      {
        scope: 'admin',
        body: OrganizationChangeBody,
        check: settingsProblems,
        response: OrganizationSettings,
        detail: {
          operationId: 'changeOrganization',
          summary: 'Change the organization’s settings',
          description: 'Changes the fields that are given; null sets one to its default.',
        },
      },
    )
    .post(
      '/badge-token',
      async ({ path, set, orgId, actor }) => {
        const token = await inTurn(orgId, (tx) => replaceBadgeToken(tx, orgId, actor))
        set.headers.location = path.replace(/\/badge-token\/?$/, '')
        return { token }
      },
      {
        scope: 'admin',
        response: { 201: BadgeToken },
        detail: {
          operationId: 'replaceBadgeToken',
          summary: 'Make a new token for private badges',
          description: 'The token before it ends. The new one is in this answer only.',
        },
      },
    )
