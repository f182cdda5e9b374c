import type { ComponentChildren } from 'preact'
import type { SessionListItem } from '../../sessions/model.ts'
import {
  formatCompact,
  formatDollars,
  formatScore,
  formatShare,
  formatTime,
  formatWhole,
} from '../client/format.ts'
import { linkTo } from '../client/links.ts'
import { Bar, goodness } from './bar.tsx'
import type { Column } from './table.tsx'

/** Stands for what is not known. */
export const UNKNOWN = '–'

/** Writes a value that may not be known. */
export const orUnknown = <Value,>(
  value: Value | null | undefined,
  write: (value: Value) => ComponentChildren,
): ComponentChildren => (value === null || value === undefined ? UNKNOWN : write(value))

/** Makes columns of one field of the rows. */
const columnOf =
  <Value,>(write: (value: Value) => ComponentChildren, isNumber = false) =>
  <Name extends string>(
    name: string,
    field: Name,
    sort?: string,
  ): Column<{ readonly [Key in Name]?: Value | null }> => ({
    name,
    isNumber,
    sort,
    cell: (row) => orUnknown(row[field], write),
  })

export const textColumn = columnOf((text: string) => <bdi>{text}</bdi>)
export const codeColumn = columnOf((text: string) => <code>{text}</code>)
export const timeColumn = columnOf(formatTime)
export const dayColumn = columnOf((timestamp: string) => timestamp.slice(0, 10))
export const wholeColumn = columnOf(formatWhole, true)
export const compactColumn = columnOf(formatCompact, true)
export const dollarColumn = columnOf(formatDollars, true)
export const shareColumn = columnOf(formatShare, true)
export const severityColumn = columnOf((severity: string) => (
  <span class={`severity ${severity}`}>{severity}</span>
))
/** A session's beginning, which links to it. */
const beganColumn: Column<{ id: string; created_at: string }> = {
  name: 'Began (UTC)',
  sort: 'created_at',
  cell: ({ id, created_at }) => <a href={linkTo('sessions', {}, id)}>{formatTime(created_at)}</a>,
}
/** Writes a score of which high is good. */
export const scoreColumn = columnOf(
  (score: number) => (
    <>
      {formatScore(score)} <Bar fraction={score / 100} kind={goodness(score)} />
    </>
  ),
  true,
)
/** Lists of sessions have these in common. */
export const SESSION_COLUMNS: readonly Column<SessionListItem>[] = [
  beganColumn,
  textColumn('Project', 'project_name'),
  wholeColumn('Turns', 'turns', 'turns'),
  dollarColumn('Cost', 'estimated_cost', 'estimated_cost'),
  scoreColumn('Quality', 'quality_score', 'quality_score'),
]
