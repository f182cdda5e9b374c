// A list of the API as a table, page by page.

import type { ComponentChildren } from 'preact'
import { useRef, useState } from 'preact/hooks'
import type { Loaded, Page } from '../client/api.ts'
import { countIn } from '../client/format.ts'
import { useHere } from '../client/router.ts'
import { NoMatch, Show } from './show.tsx'
import { idOrPlace, type KeyOf, Pager, type Place, Table, type TableProps, useLocalOrder } from './table.tsx'

interface ListProps<Row> extends Omit<TableProps<Row>, 'rows'>, Place {
  loaded: Loaded<Page<Row>>
  /** This is shown if there is nothing without filters either; without it, an empty list is nothing. */
  empty?: ComponentChildren
}

/** A page of a list of the API, or why there is none. */
export function List<Row>({ loaded, empty, noun, name = 'page', ...table }: ListProps<Row>) {
  const { loaded: shown, offer } = useOffered(loaded, noun, table.keyOf)
  return (
    <Show loaded={shown} what={noun}>
      {({ data, pagination }) =>
        pagination.total === 0 ? (
          empty !== undefined && <NoMatch noun={noun}>{empty}</NoMatch>
        ) : (
          <>
            {offer}
            <Table rows={data} {...table} />
            <Pager {...{ pagination, noun, name }} />
          </>
        )
      }
    </Show>
  )
}

const PER_PAGE = 20

/** A table of a list that is there as a whole, page by page. */
export function Paged<Row>({ noun, name = 'page', rows, ...table }: TableProps<Row> & Place) {
  const number = Number(useHere().query.get(name))
  const current = Number.isInteger(number) && number > 0 ? number : 1
  const pagination = { page: current, per_page: PER_PAGE, total: rows.length }
  const { ordered, sorting } = useLocalOrder(table.columns, rows)
  const columns = table.columns.map((column) => ({ ...column, sort: column.value && column.name }))
  return (
    <>
      <Table
        {...table}
        {...{ columns, sorting, all: ordered }}
        rows={ordered.slice((current - 1) * PER_PAGE, current * PER_PAGE)}
      />
      {rows.length > PER_PAGE && <Pager {...{ pagination, noun, name }} />}
    </>
  )
}

/** A list that gets new first rows while it is read keeps those that it shows, and offers the new ones. */
export function useOffered<Row>(loaded: Loaded<Page<Row>>, noun: string, keyOf: KeyOf<Row> = idOrPlace) {
  const shown = useRef<{ key: string | undefined; list: Page<Row> } | undefined>(undefined)
  const [, setTaken] = useState<Page<Row>>()
  if (loaded.state !== 'ready') return { loaded, offer: null }
  const { key, value: list } = loaded
  const before = shown.current
  const count = before === undefined || before.key !== key ? 0 : newRows(before.list, list, keyOf)
  if (before === undefined || count === 0) {
    shown.current = { key, list }
    return { loaded, offer: null }
  }
  const take = () => {
    shown.current = { key, list }
    setTaken(list)
    scrollTo(0, 0)
  }
  const offer = (
    <button type="button" class="offer" onClick={take}>
      {countIn(count, `new ${noun}`)}
    </button>
  )
  return { loaded: { ...loaded, value: before.list }, offer }
}

/** The number of rows before the first one that is shown already. */
function newRows<Row>(shown: Page<Row>, list: Page<Row>, keyOf: KeyOf<Row>): number {
  const keys = new Set(shown.data.map(keyOf))
  const first = list.data.findIndex((row, index) => keys.has(keyOf(row, index)))
  if (keys.size === 0) return 0
  return first === -1 ? Math.max(list.data.length, list.pagination.total - shown.pagination.total) : first
}
