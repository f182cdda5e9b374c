import type { ComponentChildren } from 'preact'
import type { Loaded, Page } from '../client/api.ts'
import { useHere } from '../client/router.ts'
import { useOffered } from './offered.tsx'
import { NoMatch, Show } from './show.tsx'
import { Pager, type Place, Table, type TableProps, useLocalOrder } from './table.tsx'

// A list of the API as a table, page by page.

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
  const given = Number(useHere().query.get(name))
  const current = Number.isInteger(given) && given > 0 ? given : 1
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
