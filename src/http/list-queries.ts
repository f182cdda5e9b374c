// A list says once which rows it has, what it shows of each, and in which order. Its page with the number of all, its CSV and
// the whole list (`per_page=all`) are made of that.

import type { Static, TSchema, TUnsafe } from '@sinclair/typebox'
import { UTC } from '../base/dates.ts'
import { JsonText, type PagePosition } from '../base/json-text.ts'
import type { Fragment, ISql, Sql } from '../database/client.ts'
import { type PageQuery, sentAsText } from './query.ts'
import type { CsvColumns } from './responses/csv.ts'
import type { Viewer } from './whole-list.ts'

/** The figures that the caller sees, and the time zone of days. */
export type ListViewer = Viewer & { zone: string }

const UNLIMITED: ListViewer = { onlyMember: null, hidesMembers: false, zone: UTC }

/** The parts of a list's statement. Most lists have `rows`, `order` and `fields` alone. */
export type ListParts<Item> = {
  /** The rows that match, `select … from … where …`, with the columns that the other parts name; they are `r` there. */
  rows: Fragment
  /** The order of rows `r`, with a unique end. */
  order: Fragment
  /** Joins to the rows `r` that are shown. */
  joins?: Fragment
  /** Tables that the other parts name: `with …`. */
  tables?: Fragment
  /** Selects the rows of the page, where a limit and an offset would take long. */
  page?: Fragment
  /** Selects the number of all rows, where sums have it. */
  total?: Fragment
  /** Selects a text for `text` below. */
  more?: Fragment
} & (
  | { fields: { [Name in keyof Item]-?: Fragment } }
  /** The JSON of an item, or its text, which is faster made by hand. */
  | { item: Fragment }
)

/** The texts that are read for a page: its items, separated by commas, and `more`. */
interface PageTexts {
  items: string
  more: string
}

/** The schema of a query with `Paged`. */
type PagedQuery = TSchema & { static: PageQuery }

type ItemOf<Page extends TSchema> = Static<Page> extends { data: (infer Item)[] } ? Item : never

interface ListOptions<Query extends PagedQuery, Page extends TSchema> {
  query: Query
  page: Page
  /** The columns as CSV; without them it is JSON alone. */
  columns?: CsvColumns<ItemOf<Page>> | ((query: Static<Query>) => CsvColumns<ItemOf<Page>>)
  /** Each request makes its parts; what a statement alone cannot give is read first. */
  parts: (
    sql: Sql,
    orgId: string,
    query: Static<Query>,
    viewer: ListViewer,
  ) => ListParts<ItemOf<Page>> | Promise<ListParts<ItemOf<Page>>>
  /** Makes an item of what the database gives, in the CSV of the whole list; else it is the item. */
  itemOf?: (parsed: never) => ItemOf<Page>
  /** Makes the page's text, where it has more than `data` and `pagination`. */
  text?: (read: PageTexts, pagination: PagePosition) => string
}

/** A list as routes use it. */
export interface List<Query = unknown> {
  /** The columns as CSV, where it is sent as such. */
  columns?: ((query: never) => CsvColumns<never>) | undefined
  itemOf(parsed: never): unknown
  /** Reads a page, and how many match, as of one instant. */
  page(sql: Sql, orgId: string, query: Query, viewer?: Partial<ListViewer>): Promise<JsonText>
  /** Makes the statement for all `item`s. */
  whole(sql: Sql, orgId: string, query: Query, viewer: ListViewer): Promise<{ statement: Fragment }>
}

function itemSql<Item>(sql: ISql, parts: ListParts<Item>): Fragment {
  if ('item' in parts) return sql`(${parts.item})::text`
  const fields = Object.entries<Fragment>(parts.fields).map(
    ([name, value]) => sql`${sql.unsafe(`'${name}'`)}, ${value}`,
  )
  return sql`json_build_object(${fields.reduce((all, one) => sql`${all}, ${one}`)})::text`
}

/** The options of a route that is the list: `query`, `response` and `list`. Its handler is `({ page }) => page()`. */
export function listOf<Query extends PagedQuery, Page extends TSchema>({
  query: querySchema,
  page: pageSchema,
  columns,
  parts: partsOf,
  itemOf = (parsed) => parsed,
  text = ({ items }, pagination) => `{"data":[${items}],"pagination":${JSON.stringify(pagination)}}`,
}: ListOptions<Query, Page>): { query: Query; response: TUnsafe<JsonText>; list: List<Static<Query>> } {
  return {
    query: querySchema,
    response: sentAsText(pageSchema),
    list: {
      columns: typeof columns === 'object' ? () => columns : columns,
      itemOf,

      async page(sql, orgId, query, viewer) {
        const parts = await partsOf(sql, orgId, query, { ...UNLIMITED, ...viewer })
        const { rows, order, joins = sql``, tables = sql``, total, more } = parts
        const { page, per_page } = query
        const ofPage =
          parts.page ??
          sql`
            select r.*
            from (${rows}) r
            order by ${order}
            limit ${per_page}
            offset ${(page - 1) * per_page}`
        const [row] = await sql<[PageTexts & { total: string }]>`
          ${tables}
          select
            (${total ?? sql`select count(*) from (${rows}) r`}) as total,
            ${more === undefined ? sql`''` : sql`(${more})::text`} as more,
            (
              select coalesce(string_agg(${itemSql(sql, parts)}, ',' order by ${order}), '')
              from (${ofPage}) r
              ${joins}
            ) as items`
        const pagination = { page, per_page, total: Number(row.total) }
        return new JsonText(text(row, pagination), pagination)
      },

      async whole(sql, orgId, query, viewer) {
        const parts = await partsOf(sql, orgId, query, viewer)
        const { rows, order, joins = sql``, tables = sql`` } = parts
        return {
          statement: sql`
            ${tables}
            select ${itemSql(sql, parts)} as item
            from (${rows}) r
            ${joins}
            order by ${order}`,
        }
      },
    },
  }
}
