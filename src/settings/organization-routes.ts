import { cleanLabel } from '../badges/render.ts'
import { isBadgeColor } from '../badges/settings.ts'
import type { FieldProblem } from '../errors.ts'
import { action, type RouteDeps, read } from '../http/route.ts'
import { ticketPatternProblem } from '../organizations/tickets.ts'
import type { SettingsDeps } from './deps.ts'
import { BadgeToken, OrganizationChangeBody, OrganizationSettings } from './organization-model.ts'
import { changeSettings, getSettings, replaceBadgeToken } from './organization-queries.ts'

const tag = 'Settings'

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

export const organizationRoutes = ({ sql }: RouteDeps, { box, inTurn }: SettingsDeps) => [
  read('/organization', 'admin or read', {
    id: 'getOrganization',
    summary: 'The organization’s settings',
    tag,
    response: OrganizationSettings,
    handler: ({ access: { orgId } }) => getSettings(sql, orgId),
  }),
  action('PATCH', '/organization', 'admin', {
    id: 'changeOrganization',
    summary: 'Change the organization’s settings',
    description: 'Changes the fields that are given; null sets one to its default.',
    tag,
    body: OrganizationChangeBody,
    problems: problemsOf,
    response: { 200: OrganizationSettings },
    handler: ({ body, access: { orgId, actor } }) =>
      inTurn(orgId, (tx) => changeSettings(tx, orgId, box, actor, body)),
  }),
  action('POST', '/organization/badge-token', 'admin', {
    id: 'replaceBadgeToken',
    summary: 'Make a new token for private badges',
    description: 'The token before it ends. The new one is in this answer only.',
    tag,
    response: { 201: BadgeToken },
    location: () => '/organization',
    handler: async ({ access: { orgId, actor } }) => ({
      token: await inTurn(orgId, (tx) => replaceBadgeToken(tx, orgId, actor)),
    }),
  }),
]
