// Shows values in sentences and tables: bars, times in the browser's zone, links, columns of one field, and those of lists of sessions.

import type { ComponentChildren } from 'preact'
import type { SessionListItem } from '../../features/sessions/model.ts'
import { dayOfTime } from '../client/days.ts'
import {
  formatCompact,
  formatDay,
  formatDollars,
  formatScore,
  formatShare,
  formatTime,
  formatWhole,
  localTime,
} from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import type { Column } from './table.tsx'

interface BarProps {
  fraction: number
  kind?: string | undefined
}

/** A value as the filled part of a bar, `fraction` 0 to 1. The value itself stands beside it. */
export function Bar({ fraction, kind = 'series0' }: BarProps) {
  return (
    <svg class="bar" width="80" height="8" aria-hidden="true">
      <rect class="track" width="80" height="8" rx="2" />
      <rect class={kind} width={80 * Math.min(1, Math.max(0, fraction))} height="8" rx="2" />
    </svg>
  )
}

export const ScoreBar = ({ score, kind }: { score: number; kind?: string }) => (
  <>
    {formatScore(score)} <Bar fraction={score / 100} kind={kind} />
  </>
)

/** The class of a score of which high is good. */
export const goodness = (score: number): string => (score >= 80 ? 'good' : score >= 50 ? 'fair' : 'bad')

const exact = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' })

interface TimeProps {
  /** The timestamp of the API. */
  at: string
  hasSeconds?: boolean
}

/** A time in the browser's zone, `2026-01-31 12:34`; hovering says it in UTC. */
export const Time = ({ at, hasSeconds = false }: TimeProps) => (
  <time dateTime={at} title={`${formatTime(at, hasSeconds)} UTC`}>
    {hasSeconds ? exact.format(new Date(at)) : localTime(at)}
  </time>
)

/** Writes a time where it is known. */
export const timeCell = (at: string) => <Time at={at} />

/** A link whose text is a name that somebody chose, in whatever script. */
export const NamedLink = ({ to, children }: { to: string; children: ComponentChildren }) => (
  <a href={to}>
    <bdi>{children}</bdi>
  </a>
)

/** The path of a file. In a narrow window its lines break behind slashes only. */
export const Path = ({ of }: { of: string }) => (
  <code class="path" title={of}>
    {of.split(/(?<=\/)/).map((part, index) => (
      <span key={index}>{part}</span>
    ))}
  </code>
)

/** The link from one thing to the list of all. */
export const Back = ({ to, children }: { to: string; children: string }) => (
  <p>
    <a href={linkTo(to)}>{children}</a>
  </p>
)

/** Stands for what is not known. */
export const UNKNOWN = '–'

export const orUnknown = <Value,>(
  value: Value | null | undefined,
  write: (value: Value) => ComponentChildren,
): ComponentChildren => (value === null || value === undefined ? UNKNOWN : write(value))

/** Makes columns of one field of the rows. */
export const columnOf =
  <Value,>(write: (value: Value) => ComponentChildren, kind: 'cell' | 'number' = 'cell') =>
  <Name extends string>(
    name: string,
    field: Name,
    sort?: string,
  ): Column<{ readonly [Key in Name]?: Value | null }> => ({
    name,
    sort,
    value: (row: { readonly [Key in Name]?: Value | null }) =>
      row[field] as string | number | null | undefined,
    [kind]: (row: { readonly [Key in Name]?: Value | null }) => orUnknown(row[field], write),
  })

export const textColumn = columnOf((text: string) => <bdi>{text}</bdi>)
export const codeColumn = columnOf((text: string) => <code>{text}</code>)
export const timeColumn = columnOf(timeCell)
export const dayColumn = columnOf((timestamp: string) => formatDay(dayOfTime(timestamp)))
export const wholeColumn = columnOf(formatWhole, 'number')
export const compactColumn = columnOf(formatCompact, 'number')
export const dollarColumn = columnOf(formatDollars, 'number')
export const shareColumn = columnOf(formatShare, 'number')
export const severityColumn = columnOf((severity: string) => (
  <span class={`severity ${severity}`}>{severity}</span>
))
/** A session's beginning, which links to it. */
const beganColumn: Column<{ id: string; created_at: string }> = {
  name: 'Began',
  sort: 'created_at',
  cell: ({ id, created_at }) => (
    <a href={linkTo('sessions', {}, id)}>
      <Time at={created_at} />
    </a>
  ),
}
/** Writes a score of which high is good. */
const scoreColumn = columnOf((score: number) => <ScoreBar score={score} kind={goodness(score)} />, 'number')
/** Lists of sessions have these in common. */
export const SESSION_COLUMNS: readonly Column<SessionListItem>[] = [
  beganColumn,
  { ...textColumn('Project', 'project_name'), phone: 'also' },
  {
    name: 'Member',
    phone: 'also',
    cell: ({ member }) => orUnknown(member, ({ id, email }) => <bdi>{email ?? id}</bdi>),
  },
  textColumn('Agent', 'agent'),
  textColumn('Model', 'model'),
  wholeColumn('Turns', 'turns', 'turns'),
  { ...dollarColumn('Cost', 'estimated_cost', 'estimated_cost'), phone: 'main' },
  scoreColumn('Quality', 'quality_score', 'quality_score'),
]

/** Lists of sessions without details have these. */
export const PLAIN_SESSION_COLUMNS = SESSION_COLUMNS.filter(
  ({ name }) => !['Member', 'Agent', 'Model'].includes(name),
)
