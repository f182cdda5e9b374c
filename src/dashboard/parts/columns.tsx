import type { ComponentChildren } from 'preact'
import type { SessionListItem } from '../../features/sessions/model.ts'
import { dayOfTime } from '../client/days.ts'
import { formatCompact, formatDay, formatDollars, formatShare, formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { goodness, ScoreBar } from './bar.tsx'
import type { Column } from './table.tsx'
import { Time, timeOf } from './time.tsx'

/** Stands for what is not known. */
export const UNKNOWN = '–'

export const orUnknown = <Value,>(
  value: Value | null | undefined,
  write: (value: Value) => ComponentChildren,
): ComponentChildren => (value === null || value === undefined ? UNKNOWN : write(value))

/** Makes columns of one field of the rows. */
const columnOf =
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
export const timeColumn = columnOf(timeOf)
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
