// Pages of lists as CSV (RFC 4180), for clients that ask for text/csv.

import type { Static, TObject } from '@sinclair/typebox'
import { JsonText } from '../../base/json-text.ts'
import { qualitiesOf, type ResponseSource } from './response.ts'

export const CSV_TYPE = 'text/csv'
/** RFC 4180, section 3. */
const CONTENT_TYPE = `${CSV_TYPE}; charset=utf-8; header=present`
export const CSV_HEADERS = { 'content-type': CONTENT_TYPE }
/**
 * Matches where a spreadsheet would begin a formula: at the start of the text, and after each character at which some
 * spreadsheets divide a line, whatever the quotes around the whole cell. A full-width sign begins a formula too;
 * spaces and quotes before it are skipped. A spreadsheet may also skip a tab or line break that a cell begins with.
 */
const FORMULA = /(^|[;\t\r\n])(?=[ "]*[=+\-@＝＋－＠])|^(?=[\t\r\n])/g
const QUOTED = /[",\r\n]/

type Cell = string | number | boolean | null | undefined

/** Whether an Accept header prefers text/csv, named as such, to JSON. */
export function prefersCsv(accept: string | null): boolean {
  // false at once for what browsers and most clients send
  if (accept?.toLowerCase().includes(CSV_TYPE) !== true) return false
  const qualities = qualitiesOf(accept)
  const csv = qualities.get(CSV_TYPE) ?? 0
  const json = qualities.get('application/json')
  if (json !== undefined) return csv > json
  // a range that JSON is in: of two as good the one that is named
  return csv > 0 && csv >= (qualities.get('application/*') ?? qualities.get('*/*') ?? 0)
}

/** A cell. A text in which a formula would begin gets a `'` there, and one at its start. */
function cellOf(value: Cell): string {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'string') return String(value)
  const inert = value.replaceAll(FORMULA, "$1'")
  const text = inert === value || inert.startsWith("'") ? inert : `'${inert}`
  return QUOTED.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

const csvLine = (row: readonly Cell[]): string => `${row.map(cellOf).join(',')}\r\n`

export type CsvColumns<Item> = Readonly<Record<string, (item: Item) => Cell>>

export const fields = <Item extends object>(...names: readonly (keyof Item & string)[]): CsvColumns<Item> =>
  Object.fromEntries(
    names.map((name) => [
      name,
      (item: Item) => {
        const value: unknown = item[name]
        return typeof value === 'object' && value !== null ? JSON.stringify(value) : (value as Cell)
      },
    ]),
  )

/** Columns of the fields that an item always has, in their order, then of those that it may have. */
export const csvColumns = <Item extends TObject>(
  { properties, required = [] }: Item,
  withOptional = true,
): CsvColumns<Static<Item>> =>
  fields<Record<string, unknown>>(...new Set([...required, ...(withOptional ? Object.keys(properties) : [])]))

export const csvNames = (columns: CsvColumns<never>): string => csvLine(Object.keys(columns))

export function csvLines<Item>(columns: CsvColumns<Item>, items: readonly Item[]): string {
  const read = Object.values(columns)
  return items.map((item) => csvLine(read.map((value) => value(item)))).join('')
}

/** The page of `source`, which is JSON, as CSV with these columns. */
export const csvSource = (source: ResponseSource, columns: CsvColumns<never>): ResponseSource => ({
  ...source,
  // no value in a key contains NUL
  key: `${source.key}\0as CSV`,
  contentType: CONTENT_TYPE,
  convert(value) {
    const page = value as JsonText
    const { data } = JSON.parse(page.text) as { data: never[] }
    return new JsonText(csvNames(columns) + csvLines(columns, data), page.pagination)
  },
})
