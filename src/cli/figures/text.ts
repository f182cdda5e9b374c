import type { Pagination } from '../../http/query.ts'
import { visible } from '../command/output.ts'
import { paint, type Screen } from '../command/table.ts'
import { whole } from './numbers.ts'
import { isFiltered, type Parameters, rangeText } from './options.ts'
import type { Source } from './source.ts'

/** The line above a table. */
export const title = (screen: Screen, text: string): string => paint(screen, visible(text), 'bold')

/** Describes the part of the list that a page is, and how to get the next one. */
export function pageLine({ page, per_page, total }: Pagination, shown: number, what: string): string {
  const pages = Math.ceil(total / per_page)
  const next = page < pages ? `; next page: the same with --page ${page + 1}` : ''
  return `${whole(shown)} of ${whole(total)} ${what}, page ${whole(page)} of ${whole(pages)}${next}`
}

/** Explains a page behind the last one; undefined when the list itself is empty. */
export function emptyPage({ page, per_page, total }: Pagination): string | undefined {
  if (total === 0) return undefined
  const pages = Math.ceil(total / per_page)
  return `page ${page} is empty: there ${pages === 1 ? 'is 1 page' : `are ${whole(pages)} pages`}`
}

/** Explains that no session matches, and names the commands to run next. */
export function noSessions({ words }: Source, command: string, parameters: Parameters): string {
  const range = rangeText(parameters)
  if (isFiltered(parameters)) {
    return [
      `no sessions ${range} match`,
      `  without the filters:  cloud-analytics ${command}${words}`,
      `  further back:         the same with --from 2020-01-01`,
    ].join('\n')
  }
  return [
    `no sessions ${range}`,
    `  send some:     cloud-analytics sync ~/.claude/projects${words}`,
    `  further back:  cloud-analytics ${command}${words} --from 2020-01-01`,
  ].join('\n')
}
