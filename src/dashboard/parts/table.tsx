// Tables: columns, order, totals, rows that open, and the pager of a list.

import { type ComponentChildren, render } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Pagination } from '../../http/query.ts'
import { countIn, formatWhole } from '../client/format.ts'
import { linkHere, setQuery, useHere } from '../client/router.ts'
import { saveFile } from './copied.tsx'
import { Choice } from './fields.tsx'

export interface Column<Row> {
  name: string
  /** A column has one of these; numbers stand at the right. */
  cell?: (row: Row) => ComponentChildren
  number?: (row: Row) => ComponentChildren
  /** The API's name of the column, if it can sort by it. */
  sort?: string | undefined
  /** A table that is there as a whole can be sorted by it. */
  value?: (row: Row) => string | number | boolean | null | undefined
  /** The cell's place in a narrow window: at the right of the first line, or on the second one. */
  phone?: 'main' | 'also'
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
  /** The order of a list of the API; without it the rows are all that there are. */
  sorting?: Sorting | undefined
  /** The last row: the sum of all. */
  total?: Row | undefined
  /** Whether its rows can be saved elsewhere. */
  isSaved?: boolean
  /** All rows, where `rows` is a page of them. */
  all?: readonly Row[]
}

export interface Sorting {
  by: string
  order: string
  change: (by: string, order: 'asc' | 'desc') => void
}

/** The order of a table, kept in the URL. */
export const sortingOf = (query: URLSearchParams, usual: string): Sorting => ({
  by: query.get('sort') ?? usual,
  order: query.get('order') ?? 'desc',
  change: (sort, order) => setQuery({ sort, order }),
})

/** The order that a reader gives to rows that are all there. */
export function useLocalOrder<Row>(columns: readonly Column<Row>[], rows: readonly Row[]) {
  const [{ by, order }, setOrder] = useState({ by: '', order: 'desc' })
  const valueIn = columns.find(({ name }) => name === by)?.value
  const sign = order === 'asc' ? 1 : -1
  const compare = (one: Row, other: Row) => {
    const [a, b] = [valueIn?.(one) ?? null, valueIn?.(other) ?? null]
    // unknown values are last in both orders
    if (a === null || b === null) return Number(a === null) - Number(b === null)
    return sign * (typeof a === 'string' ? a.localeCompare(String(b)) : Number(a) - Number(b))
  }
  return {
    ordered: valueIn === undefined ? rows : rows.toSorted(compare),
    sorting: { by, order, change: (by: string, order: string) => setOrder({ by, order }) } satisfies Sorting,
  }
}

export function Table<Row>(props: TableProps<Row>) {
  const { caption, columns, rows, keyOf = idOrPlace, total, isSaved = false, all = rows } = props
  const { box, isWide, isTall } = useOverflow()
  const local = useLocalOrder(columns, rows)
  const sorting = props.sorting ?? local.sorting
  const sortOf = ({ name, sort, value }: Column<Row>) => (props.sorting === undefined ? value && name : sort)
  const sortable = columns.flatMap((column) => {
    const sort = sortOf(column)
    return sort === undefined ? [] : [[sort, column.name] as const]
  })
  const kinds = kindsOf(columns)
  const [open, setOpen] = useState<string>()
  const save = () => saveFile(caption.toLowerCase().replaceAll(/\W+/g, '-'), csvOf(columns, all))
  const cells = (row: Row, more?: ComponentChildren) =>
    columns.map(({ name, number, cell = number }, nth) => (
      <td key={nth} class={kinds[nth]} data-name={name}>
        {nth === 0 && more !== undefined && row === total ? more : cell?.(row)}
        {nth === 0 && row !== total && more}
      </td>
    ))
  return (
    <section
      ref={box}
      class={`scroll${isWide ? ' wide' : ''}`}
      aria-label={caption}
      tabIndex={isWide || isTall ? 0 : -1}
    >
      {sortable.length > 1 && rows.length > 1 && (
        // rows of a narrow window have no headings to click
        <div class="sorts">
          <Choice
            label="Sorted by"
            value={sorting.by}
            options={[
              ...(sortable.some(([by]) => by === sorting.by) ? [] : [['', 'as listed'] as const]),
              ...sortable,
            ]}
            onChange={(by) => sorting.change(by, 'desc')}
          />
        </div>
      )}
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column, index) => (
              <Heading key={index} column={column} sort={sortOf(column)} sorting={sorting} />
            ))}
          </tr>
        </thead>
        <tbody>
          {(props.sorting === undefined ? local.ordered : rows).map((row, index) => {
            const key = keyOf(row, index)
            return (
              <tr key={key} data-key={key} class={key === open ? 'open' : ''}>
                {cells(
                  row,
                  columns.length > 3 && (
                    <button
                      type="button"
                      class="more-cells plain"
                      aria-expanded={key === open}
                      aria-label="All of this row"
                      onClick={() => setOpen(key === open ? undefined : key)}
                    />
                  ),
                )}
              </tr>
            )
          })}
        </tbody>
        {total !== undefined && (
          <tfoot>
            <tr>{cells(total, 'All')}</tr>
          </tfoot>
        )}
      </table>
      {!isSaved && rows.length > 0 && (
        <button type="button" class="save plain" aria-label={`${caption} as CSV`} onClick={save}>
          CSV
        </button>
      )}
    </section>
  )
}

/** The classes of cells: numbers, and the places in a narrow window. */
function kindsOf<Row>(columns: readonly Column<Row>[]): string[] {
  const rest = columns.slice(1)
  const main = rest.findLast(({ phone }) => phone === 'main') ?? rest.find(({ number }) => number) ?? rest[0]
  const named = rest.filter(({ phone }) => phone === 'also')
  const also = named.length > 0 ? named : rest.filter((column) => column !== main).slice(0, 2)
  return columns.map((column) =>
    [
      column.number === undefined ? '' : 'number',
      column === main ? 'main' : also.includes(column) ? (also.length === 1 ? 'also alone' : 'also') : '',
    ]
      .join(' ')
      .trim(),
  )
}

/** The rows as they are shown, as CSV. A text in which a spreadsheet would begin a formula gets a `'`. */
function csvOf<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const box = document.createElement('table')
  render(
    <tbody>
      {rows.map((row, index) => (
        <tr key={index}>
          {columns.map(({ number, cell = number }, nth) => (
            <td key={nth}>{cell?.(row)}</td>
          ))}
        </tr>
      ))}
    </tbody>,
    box,
  )
  const lines = [...box.rows].map((row) => [...row.cells].map(({ textContent }) => textContent.trim()))
  const written = (text: string) => `"${text.replace(/^(?=[=+@\t\r]|-(?!\d))/, "'").replaceAll('"', '""')}"`
  return [columns.map(({ name }) => name), ...lines].map((line) => line.map(written).join(',')).join('\r\n')
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

interface HeadingProps<Row> {
  column: Column<Row>
  sort: string | undefined
  sorting: Sorting
}

function Heading<Row>({ column: { name, number }, sort, sorting }: HeadingProps<Row>) {
  const isSorted = sorting.by === sort
  const next = isSorted && sorting.order === 'desc' ? 'asc' : 'desc'
  const direction = !isSorted ? 'none' : sorting.order === 'asc' ? 'ascending' : 'descending'
  return (
    <th scope="col" class={number && 'number'} aria-sort={sort === undefined ? undefined : direction}>
      {sort === undefined ? (
        name
      ) : (
        <button type="button" class="plain" onClick={() => sorting.change(sort, next)}>
          {name} {isSorted ? (sorting.order === 'asc' ? '↑' : '↓') : ''}
        </button>
      )}
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
          : last === 1
            ? countIn(total, noun)
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
