import { ticketPatternProblem } from '../../accounts/organizations/tickets.ts'
import { type FieldProblem, problemIf } from '../../base/errors.ts'
import { cleanLabel } from '../badges/render.ts'
import { isBadgeColor } from '../badges/settings.ts'

/** Finds problems that the schema cannot express. The fields may be anything. */
export function settingsProblems({ body }: { body: object }): FieldProblem[] {
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
