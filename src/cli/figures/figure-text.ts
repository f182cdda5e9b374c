// Titles, tables of pages, and words for no sessions, of the commands that show figures.

import { visible } from '../../base/text.ts'
import type { Pagination } from '../../http/query.ts'
import { type Bars, type Column, draw, paint, type Screen } from '../command/table.ts'
import { whole } from './numbers.ts'
import { isFiltered, rangeText } from './options.ts'
import type { View } from './source.ts'

export const title = (screen: Screen, text: string): string => paint(screen, visible(text), 'bold')

/** A page of a list as a table, with what it is of above and its place in the list below; else why it is empty. */
export function pageText<Row>(
  { screen }: View,
  { data, pagination }: { data: readonly Row[]; pagination: Pagination },
  shown: {
    heading: string
    columns: readonly Column<Row>[]
    bars: Bars<Row>
    /** Names the rows. */
    what: string
    none: string
    note?: string
    /** Further rows, of sums. */
    sums?: readonly Row[]
  },
): string {
  const { page, per_page, total } = pagination
  const pages = Math.ceil(total / per_page)
  if (total > 0 && data.length === 0)
    return `page ${page} is empty: there ${pages === 1 ? 'is 1 page' : `are ${whole(pages)} pages`}`
  if (data.length === 0) return shown.none
  const next = page < pages ? `; next page: the same with --page ${page + 1}` : ''
  const place = `${whole(data.length)} of ${whole(total)} ${shown.what}, page ${whole(page)} of ${whole(pages)}${next}`
  return [
    title(screen, shown.heading),
    draw(screen, [...data, ...(shown.sums ?? [])], shown.columns, shown.bars),
    shown.note === undefined ? place : `${shown.note}\n${place}`,
  ].join('\n\n')
}

/** Explains that no session matches, and names the commands to run next. */
export function noSessions({ source: { words }, parameters }: View, command: string): string {
  const range = rangeText(parameters)
  if (isFiltered(parameters))
    return [
      `no sessions ${range} match`,
      `  without the filters:  cloud-analytics ${command}${words}`,
      `  further back:         the same with --from 2020-01-01`,
    ].join('\n')
  return [
    `no sessions ${range}`,
    `  send some:     cloud-analytics sync ~/.claude/projects${words}`,
    `  further back:  cloud-analytics ${command}${words} --from 2020-01-01`,
  ].join('\n')
}

/** A part of the whole, which may be nothing. */
export const fractionOf = (part: number, all: number): number => (all > 0 ? part / all : 0)
