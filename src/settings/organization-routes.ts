import { Elysia } from 'elysia'
import { cleanLabel } from '../badges/render.ts'
import { isBadgeColor } from '../badges/settings.ts'
import { publicPath } from '../config.ts'
import type { FieldProblem } from '../errors.ts'
import { access, guard, type RouteDeps } from '../http/access.ts'
import { ticketPatternProblem } from '../organizations/tickets.ts'
import type { SettingsDeps } from './deps.ts'
import { BadgeToken, OrganizationChangeBody, OrganizationSettings } from './organization-model.ts'
import { changeSettings, getSettings, replaceBadgeToken } from './organization-queries.ts'

const tags = ['Settings']

/** What the schema cannot say. The fields may be anything. */
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

export const organizationRoutes = (deps: RouteDeps, { writes, box, enqueueWrite }: SettingsDeps) => {
  const prefix = publicPath(deps.config)
  return new Elysia()
    .use(access(deps))
    .get('/organization', ({ access: { orgId } }) => getSettings(deps.sql, orgId), {
      ...guard('admin or read', { response: { 200: OrganizationSettings } }),
      detail: { operationId: 'getOrganization', summary: 'The organization’s settings', tags },
    })
    .patch(
      '/organization',
      ({ body, access: { orgId, actor } }) =>
        enqueueWrite(
          orgId,
          () =>
            writes.begin((tx) =>
              changeSettings(tx, orgId, box, actor, body),
            ) as Promise<OrganizationSettings>,
        ),
      {
        ...guard('admin', {
          body: OrganizationChangeBody,
          problems: problemsOf,
          response: { 200: OrganizationSettings },
        }),
        detail: {
          operationId: 'changeOrganization',
          summary: 'Change the organization’s settings',
          description: 'Changes the fields that are given; null sets one to its default.',
          tags,
        },
      },
    )
    .post(
      '/organization/badge-token',
      async ({ request, set, access: { orgId, actor } }) => {
        const token = await enqueueWrite(
          orgId,
          () => writes.begin((tx) => replaceBadgeToken(tx, orgId, actor)) as Promise<string>,
        )
        set.status = 201
        set.headers.location = `${prefix}${new URL(request.url).pathname.replace(/\/badge-token$/, '')}`
        return { token }
      },
      {
        ...guard('admin', { response: { 201: BadgeToken } }),
        detail: {
          operationId: 'replaceBadgeToken',
          summary: 'Make a new token for private badges',
          description: 'The token before it ends. The new one is in this answer only.',
          tags,
        },
      },
    )
}
