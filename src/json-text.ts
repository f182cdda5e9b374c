/** Text that is ready to send: JSON, as the database put it together, unless its source names another type. */
export class JsonText {
  constructor(readonly text: string) {}
}

/** A page of a list: `items` is the text of its items, separated by commas; `total` counts those on all pages. */
export const pageText = (
  items: string | null,
  { page, per_page }: { page: number; per_page: number },
  total: string,
): JsonText =>
  new JsonText(
    `{"data":[${items ?? ''}],"pagination":{"page":${page},"per_page":${per_page},"total":${total}}}`,
  )
