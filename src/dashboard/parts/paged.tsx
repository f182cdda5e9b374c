import { type Column, Pager, Table } from './table.tsx'

const PER_PAGE = 25

interface PagedProps<Row> {
  caption: string
  columns: readonly Column<Row>[]
  /** All of them: the API gives the list whole. */
  rows: readonly Row[]
  keyOf: (row: Row) => string
  /** The page of the dashboard, and the parameter of its URL that names the page of the table. */
  page: string
  name: string
  query: URLSearchParams
  noun: string
}

/** A table of a list that is there as a whole, page by page. */
export function Paged<Row>({ caption, columns, rows, keyOf, page, name, query, noun }: PagedProps<Row>) {
  const given = Number(query.get(name))
  const current = Number.isInteger(given) && given > 0 ? given : 1
  return (
    <>
      <Table
        caption={caption}
        columns={columns}
        rows={rows.slice((current - 1) * PER_PAGE, current * PER_PAGE)}
        keyOf={keyOf}
      />
      {rows.length > PER_PAGE && (
        <Pager
          pagination={{ page: current, per_page: PER_PAGE, total: rows.length }}
          page={page}
          query={query}
          noun={noun}
          name={name}
        />
      )}
    </>
  )
}
