import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Pagination } from '../../http/query.ts'
import { formatWhole } from '../client/format.ts'
import { linkHere, useHere } from '../client/router.ts'
import { Choice } from './field.tsx'

export interface Column<Row> {
  name: string
  /** A column has one of these; numbers stand at the right. */
  cell?: (row: Row) => ComponentChildren
  number?: (row: Row) => ComponentChildren
  /** The API's name of the column, if it can sort by it. */
  sort?: string | undefined
}

export type KeyOf<Row> = (row: Row, index: number) => string
export const idOrPlace: KeyOf<unknown> = (row, index) => String((row as { id?: string }).id ?? index)

export interface TableProps<Row> {
  /** Names the table for a screen reader. */
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  /** Else its `id`, or its place. */
  keyOf?: KeyOf<Row>
  sorting?: Sorting | undefined
}

export interface Sorting {
  by: string
  order: string
  change: (by: string, order: 'asc' | 'desc') => void
}

export function Table<Row>({ caption, columns, rows, keyOf = idOrPlace, sorting }: TableProps<Row>) {
  const { box, isWide, isTall } = useOverflow()
  return (
    <section
      ref={box}
      class={`scroll${isWide ? ' wide' : ''}`}
      aria-label={caption}
      tabIndex={isWide || isTall ? 0 : -1}
    >
      {sorting !== undefined && (
        // cards have no headings to click
        <div class="sorts">
          <Choice
            label="Sorted by"
            value={sorting.by}
            options={columns.flatMap(({ name, sort }) => (sort === undefined ? [] : [[sort, name] as const]))}
            onChange={(by) => sorting.change(by, 'desc')}
          />
        </div>
      )}
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <Heading key={index} column={column} sorting={sorting} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf(row, index)} data-key={keyOf(row, index)}>
              {columns.map(({ name, number, cell = number }, nth) => (
                <td key={nth} class={number === undefined ? '' : 'number'} data-name={name}>
                  {cell?.(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** Whether what is in the box is wider or higher than the box. */
function useOverflow() {
  const box = useRef<HTMLElement>(null)
  const [isWide, setWide] = useState(false)
  const [isTall, setTall] = useState(false)
  useEffect(() => {
    const { current } = box
    if (current === null) return
    const observer = new ResizeObserver(() => {
      setWide(current.scrollWidth > current.clientWidth)
      setTall(current.scrollHeight > current.clientHeight)
    })
    observer.observe(current)
    for (const child of current.children) observer.observe(child)
    return () => observer.disconnect()
  }, [])
  return { box, isWide, isTall }
}

function Heading<Row>({ column, sorting }: { column: Column<Row>; sorting: Sorting | undefined }) {
  const { name, number, sort } = column
  const kind = number === undefined ? '' : 'number'
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

/** The name of a list’s rows, and the parameter of its page. */
export interface Place {
  /** Names the rows, in the plural. */
  noun: string
  /** The parameter that names the page of the list. */
  name?: string
}

interface PagerProps extends Place {
  pagination: Pagination
}

/** Shows the reader's place in a list, with links to the pages around it. */
export function Pager({ pagination: { page: current, per_page, total }, noun, name = 'page' }: PagerProps) {
  const here = useHere()
  const last = Math.max(1, Math.ceil(total / per_page))
  const link = (target: number) => linkHere(here, { [name]: target === 1 ? undefined : target })
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
