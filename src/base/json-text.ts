/** The position of a page in its list; `total` counts the items on all pages. */
export interface PagePosition {
  page: number
  per_page: number
  total: number
}

/** Text that is ready to send: JSON, as the database put it together, unless its source names another type. */
export class JsonText {
  constructor(
    readonly text: string,
    /** That of `pagination` in the text, for the Link header; undefined where the text is no page of a list. */
    readonly pagination?: PagePosition,
  ) {}
}

/** The row of a statement for a page: the number of all that match, and the JSON of its items, null for none. */
export interface PageRow {
  total: string
  items: string | null
}

/** A page of a list: `items` is the text of its items, separated by commas; `total` counts those on all pages. */
export const pageText = (
  items: string | null,
  { page, per_page }: { page: number; per_page: number },
  total: string,
): JsonText =>
  new JsonText(
    `{"data":[${items ?? ''}],"pagination":{"page":${page},"per_page":${per_page},"total":${total}}}`,
    { page, per_page, total: Number(total) },
  )
