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
