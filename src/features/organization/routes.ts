import { Elysia } from 'elysia'
import { checked } from '../../analysis/records/problems.ts'
import { type FieldProblem, problemIf } from '../../base/errors.ts'
import type { RouteDeps } from '../../http/api.ts'
import type { SecretBox } from '../../webhooks/signing/secret-box.ts'
import { cleanLabel } from '../badges/render.ts'
import { isBadgeColor } from '../badges/settings.ts'
import { ticketPatternProblem } from '../usage/tickets.ts'
import { BadgeToken, OrganizationChangeBody, OrganizationSettings } from './model.ts'
import { changeSettings, getSettings, replaceBadgeToken } from './queries.ts'

/** Finds problems that the schema cannot express. The fields may be anything. */
function settingsProblems(body: object): FieldProblem[] {
  const { name, badges, ticket_pattern } = body as Record<string, unknown>
  const { labels, colors } = (typeof badges === 'object' && badges !== null ? badges : {}) as Record<
    string,
    object
  >
  const texts = (values: object | null | undefined) =>
    Object.entries(values ?? {}).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
  const wrongPattern = typeof ticket_pattern === 'string' ? ticketPatternProblem(ticket_pattern) : undefined
  return [
    ...problemIf(typeof name === 'string' && name.trim() === '', 'name', 'must not be empty'),
    ...texts(labels).flatMap(([kind, label]) =>
      problemIf(cleanLabel(label) !== label.trim(), `badges.labels.${kind}`, 'must be one line'),
    ),
    ...texts(colors).flatMap(([part, color]) =>
      problemIf(!isBadgeColor(color), `badges.colors.${part}`, 'must be a color of badges, or hexadecimal'),
    ),
    ...problemIf(wrongPattern !== undefined, 'ticket_pattern', wrongPattern ?? ''),
  ]
}

export const organizationRoutes = ({ read, api, inTurn }: RouteDeps, box: SecretBox) =>
  new Elysia({ prefix: '/organization', tags: ['Settings'] })
    .use(api)
    .get('', ({ orgId }) => read(orgId, (sql) => getSettings(sql, orgId)), {
      scope: 'admin or read',
      response: OrganizationSettings,
      detail: { operationId: 'getOrganization', summary: 'The organization’s settings' },
    })
    .patch(
      '',
      ({ body, orgId, actor }) => inTurn(orgId, (tx) => changeSettings(tx, orgId, actor, body, box)),
      {
        scope: 'admin',
        body: checked(OrganizationChangeBody, settingsProblems),
        response: OrganizationSettings,
        fails: [409],
        detail: {
          operationId: 'changeOrganization',
          summary: 'Change the organization’s settings',
          description:
            'Changes the fields that are given; null sets one to its default. A time zone is in force when all days are computed anew: until then it is `time_zone_pending`, and another one is 409.',
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
