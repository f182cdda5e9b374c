import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { formatWhole } from '../client/format.ts'
import { linkTo } from '../client/links.ts'

export interface Column<Row> {
  name: string
  cell: (row: Row) => ComponentChildren
  isNumber?: boolean
  /** The API's name of the column, if it can sort by it. */
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

export interface Sorting {
  by: string
  order: string
  change: (by: string, order: 'asc' | 'desc') => void
}

export function Table<Row>({ caption, columns, rows, keyOf, sorting }: TableProps<Row>) {
  const { box, isWide } = useWide()
  return (
    <section
      ref={box}
      class={`scroll${isWide ? ' wide' : ''}`}
      aria-label={caption}
      tabIndex={isWide ? 0 : -1}
    >
      {sorting !== undefined && <SortChoice columns={columns} sorting={sorting} />}
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
            <tr key={keyOf(row, index)} data-key={keyOf(row, index)}>
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

/** The order of cards, which have no headings. */
function SortChoice<Row>({ columns, sorting }: { columns: readonly Column<Row>[]; sorting: Sorting }) {
  return (
    <label class="sorts">
      Sorted by
      <select value={sorting.by} onChange={({ currentTarget: { value } }) => sorting.change(value, 'desc')}>
        {columns.flatMap(({ name, sort }) =>
          sort === undefined ? (
            []
          ) : (
            <option key={sort} value={sort}>
              {name}
            </option>
          ),
        )}
      </select>
    </label>
  )
}

/** Whether what is in the box is wider than the box. */
function useWide() {
  const box = useRef<HTMLElement>(null)
  const [isWide, setWide] = useState(false)
  useEffect(() => {
    const { current } = box
    if (current === null) return
    const observer = new ResizeObserver(() => setWide(current.scrollWidth > current.clientWidth))
    observer.observe(current)
    for (const child of current.children) observer.observe(child)
    return () => observer.disconnect()
  }, [])
  return { box, isWide }
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

/** Shows the reader's place in a list, with links to the pages around it. */
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
