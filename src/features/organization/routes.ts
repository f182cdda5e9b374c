import { Elysia } from 'elysia'
import type { Change } from '../../accounts/organizations/gate.ts'
import { ticketPatternProblem } from '../../accounts/organizations/tickets.ts'
import type { FieldProblem } from '../../base/errors.ts'
import type { RouteDeps } from '../../http/api.ts'
import type { SecretBox } from '../../webhooks/signing/secret-box.ts'
import { cleanLabel } from '../badges/render.ts'
import { isBadgeColor } from '../badges/settings.ts'
import { BadgeToken, OrganizationChangeBody, OrganizationSettings } from './model.ts'
import { changeSettings, getSettings, replaceBadgeToken } from './queries.ts'

/** Finds problems that the schema cannot express. The fields may be anything. */
function problemsOf(body: object): FieldProblem[] {
  const { name, badges, ticket_pattern } = body as Record<string, unknown>
  const { labels, colors } = (typeof badges === 'object' && badges !== null ? badges : {}) as Record<
    string,
    object
  >
  const problems: FieldProblem[] = []
  if (typeof name === 'string' && name.trim() === '')
    problems.push({ field: 'name', message: 'must not be empty' })
  for (const [kind, label] of Object.entries(labels ?? {})) {
    if (typeof label === 'string' && cleanLabel(label) !== label.trim()) {
      problems.push({ field: `badges.labels.${kind}`, message: 'must be one line' })
    }
  }
  for (const [part, color] of Object.entries(colors ?? {})) {
    if (typeof color === 'string' && !isBadgeColor(color)) {
      problems.push({ field: `badges.colors.${part}`, message: 'must be a color of badges, or hexadecimal' })
    }
  }
  if (typeof ticket_pattern === 'string') {
    const message = ticketPatternProblem(ticket_pattern)
    if (message !== undefined) problems.push({ field: 'ticket_pattern', message })
  }
  return problems
}

export const organizationRoutes = (
  { sql, api }: RouteDeps,
  { box, inTurn }: { box: SecretBox; inTurn: Change },
) =>
  new Elysia({ prefix: '/organization', tags: ['Settings'] })
    .use(api)
    .get('', ({ orgId }) => getSettings(sql, orgId), {
      scope: 'admin or read',
      response: OrganizationSettings,
      detail: { operationId: 'getOrganization', summary: 'The organization’s settings' },
    })
    .patch(
      '',
      ({ body, orgId, actor }) => inTurn(orgId, (tx) => changeSettings(tx, orgId, box, actor, body)),
      {
        scope: 'admin',
        body: OrganizationChangeBody,
        check: ({ body }: { body: object }) => problemsOf(body),
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
      async ({ path, set, status, orgId, actor }) => {
        const token = await inTurn(orgId, (tx) => replaceBadgeToken(tx, orgId, actor))
        set.headers.location = path.replace('/badge-token', '')
        return status(201, { token })
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
