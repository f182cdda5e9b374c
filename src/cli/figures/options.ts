// Makes the flags and the range of days of a command that shows figures, from the parameters of its route.

import type { TObject, TSchema } from '@sinclair/typebox'
import { Option } from 'commander'
import { addDays, dayOf, isDate, UTC } from '../../base/dates.ts'
import { OperatorError } from '../../base/errors.ts'
import type { CliCommand } from '../command/cli-command.ts'

export type Parameters = Record<string, string | undefined>

/** The flags that are called otherwise than their parameters. */
const SHORT: Readonly<Record<string, string>> = {
  ...{ date_from: 'from', date_to: 'to' },
  // --version is the program's
  version: 'agent-version',
}

/** The flag of a parameter: `--per-page` of `per_page`. */
export const flagOf = (parameter: string): string =>
  `--${(SHORT[parameter] ?? parameter).replaceAll('_', '-')}`

const RANGE_DAYS = 30
const HELP: Readonly<Record<string, string>> = {
  date_from: `first day, inclusive (the last ${RANGE_DAYS} days)`,
  date_to: 'last day, inclusive',
  by: 'sums by this key',
  and_by: 'a second key: sums by pairs',
}

/** Adds --org, --server, --key, and a flag for each parameter that the schemas have. */
export function addParameters(command: CliCommand, schemas: readonly TObject[]): CliCommand {
  command.option('--org <slug>', 'slug of the organization, in the local database').server()
  const parameters: Record<string, TSchema> = Object.assign(
    {},
    ...schemas.map(({ properties }) => properties),
  )
  for (const [name, schema] of Object.entries(parameters)) command.addOption(optionOf(name, schema))
  return command
}

function optionOf(name: string, schema: TSchema): Option {
  const option = new Option(`${flagOf(name)} <${placeholderOf(name, schema)}>`, HELP[name] ?? helpOf(schema))
  // an empty value stands for those without
  return schema.enum === undefined
    ? option
    : option.choices(schema.enum.filter((value: string) => value !== ''))
}

function placeholderOf(name: string, { format, type, enum: values }: TSchema): string {
  if (format === 'date') return 'date'
  if (type === 'integer') return 'n'
  if (values?.[0] === 'true') return 'true|false'
  if (name === 'by' || name === 'and_by') return 'key'
  if (name === 'group_by') return 'period'
  return name.replace(/^(min|max)_/, '')
}

/** The API's text with a small letter, as other helps, and the default of the API. */
function helpOf({ description = '', default: fallback }: TSchema): string {
  const text = description.replaceAll('`', '').replace(/; (a breakdown|ties are).*/, '')
  const help = text.charAt(0).toLowerCase() + text.slice(1)
  return fallback === undefined ? help : `${help} (${fallback})`
}

/** The parameters among the values of a command's options. */
export function parametersOf(schema: TObject, options: object): Parameters {
  const values: Readonly<Record<string, unknown>> = { ...options }
  const parameters: Parameters = {}
  for (const name of Object.keys(schema.properties)) {
    const value = values[new Option(flagOf(name)).attributeName()]
    if (typeof value === 'string') parameters[name] = value
  }
  return parameters
}

let zone = UTC
/** Counts days by the organization's time zone. */
export function useTimeZone(name: string): void {
  zone = name
}

export const dayOfTime = (instant: Date | string): string => dayOf(instant, zone)
export const today = (): string => dayOfTime(new Date())

/** Names the time zone of days, where it is another one than UTC. */
export const zoneText = (): string => (zone === UTC ? '' : ` (${zone})`)

/** The parameters with the last 30 days, up to the last day given, unless there is a first one. */
export function withRange(parameters: Parameters): Parameters {
  const { date_from, date_to = today() } = parameters
  if (date_from !== undefined || !isDate(date_to)) return parameters
  const first = addDays(date_to, 1 - RANGE_DAYS)
  return isDate(first) ? { ...parameters, date_from: first } : parameters
}

/** The range of what is shown: `from` and `to` are days, inclusive; without a last one up to today. */
export const shownRange = ({ date_from, date_to }: Parameters) => ({
  from: date_from ?? null,
  to: date_to ?? today(),
})

export function rangeText({ date_from, date_to }: Parameters): string {
  if (date_from === undefined) return `up to ${date_to}${zoneText()}`
  return `${date_to === undefined ? `from ${date_from} on` : `from ${date_from} to ${date_to}`}${zoneText()}`
}

/** Stands for the key of what has none. */
export const NONE = '(none)'

/** The project that a heading names. */
export const ofProject = ({ project }: Parameters): string =>
  project === undefined ? '' : project === '' ? ' without a project' : ` of ${project}`

/** Parameters that leave nothing out. */
const UNFILTERED = new Set([
  'date_from',
  'date_to',
  'by',
  'and_by',
  'group_by',
  'sort',
  'order',
  'page',
  'per_page',
])

export const isFiltered = (parameters: Parameters): boolean =>
  Object.entries(parameters).some(([name, value]) => value !== undefined && !UNFILTERED.has(name))

/** Throws OperatorError naming the flags that only the other schema has. */
export function refuseOthers(schema: TObject, other: TObject, options: object, reason: string): void {
  const names = Object.keys(parametersOf(other, options)).filter((name) => !(name in schema.properties))
  if (names.length > 0) throw new OperatorError(`${names.map(flagOf).join(', ')} ${reason}`, 2)
}
