import type { ComponentChildren } from 'preact'
import { formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'

export interface Column<Row> {
  name: string
  cell: (row: Row) => ComponentChildren
  isNumber?: boolean
  /** What the API calls the column, where it can sort by it. */
  sort?: string
}

interface TableProps<Row> {
  /** Names the table for a screen reader. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  keyOf: (row: Row, index: number) => string
  sorting?: Sorting
}

interface Sorting {
  by: string
  order: string
  change: (by: string, order: 'asc' | 'desc') => void
}

export function Table<Row>({ caption, columns, rows, keyOf, sorting }: TableProps<Row>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table that is too wide is scrolled by the keyboard too
    <section class="scroll" aria-label={caption} tabIndex={0}>
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <Heading key={column.name} column={column} sorting={sorting} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf(row, index)}>
              {columns.map(({ name, cell, isNumber }) => (
                <td key={name} class={isNumber === true ? 'number' : ''} data-name={name}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function Heading<Row>({ column, sorting }: { column: Column<Row>; sorting: Sorting | undefined }) {
  const { name, isNumber, sort } = column
  const kind = isNumber === true ? 'number' : ''
  if (sort === undefined || sorting === undefined)
    return (
      <th scope="col" class={kind}>
        {name}
      </th>
    )
  const isSorted = sorting.by === sort
  const next = isSorted && sorting.order === 'desc' ? 'asc' : 'desc'
  return (
    <th
      scope="col"
      class={kind}
      aria-sort={!isSorted ? 'none' : sorting.order === 'asc' ? 'ascending' : 'descending'}
    >
      <button type="button" class="plain" onClick={() => sorting.change(sort, next)}>
        {name} {isSorted ? (sorting.order === 'asc' ? '↑' : '↓') : ''}
      </button>
    </th>
  )
}

interface PagerProps {
  pagination: { page: number; per_page: number; total: number }
  /** The page's name and the parameters that its links keep. */
  page: string
  id?: string | undefined
  query: URLSearchParams
  noun: string
  /** The parameter that names the page. */
  name?: string
}

/** Where the reader is in a list, with links to the pages around it. */
export function Pager({ pagination, page, id, query, noun, name = 'page' }: PagerProps) {
  const { page: current, per_page, total } = pagination
  const last = Math.max(1, Math.ceil(total / per_page))
  const link = (target: number) =>
    linkTo(page, { ...Object.fromEntries(query), [name]: target === 1 ? undefined : target }, id)
  const first = total === 0 ? 0 : (current - 1) * per_page + 1
  return (
    <nav class="pager" aria-label={`Pages of ${noun}`}>
      <span>
        {current > last
          ? `Page ${formatWhole(current)} is past the last one, ${formatWhole(last)}: there are ${formatWhole(total)} ${noun}`
          : `${formatWhole(first)}–${formatWhole(Math.min(total, current * per_page))} of ${formatWhole(total)} ${noun}`}
      </span>
      {current > 1 && (
        <>
          <a href={link(1)}>First</a>
          <a href={link(Math.min(current - 1, last))} rel="prev">
            Previous
          </a>
        </>
      )}
      {current < last && (
        <>
          <a href={link(current + 1)} rel="next">
            Next
          </a>
          <a href={link(last)}>Last</a>
        </>
      )}
    </nav>
  )
}
