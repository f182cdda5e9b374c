import { readFileSync } from 'node:fs'
import { messageOf, OperatorError } from '../../base/errors.ts'

/** The rows of a file of CSV; none where it is no CSV. Throws OperatorError where it cannot be read. */
export function readCsv(file: string): string[][] {
  try {
    return rowsOfCsv(readFileSync(file, 'utf8').replace(/^\uFEFF/, '')) ?? []
  } catch (error) {
    throw new OperatorError(`${file} cannot be read: ${messageOf(error)}`)
  }
}

/** A cell, in quotes or not, with what ends it. */
const CELL = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y

/** The rows of CSV (RFC 4180) without empty lines; undefined where a quote has no end, or text beside it. */
function rowsOfCsv(text: string): string[][] | undefined {
  const rows: string[][] = []
  let row: string[] = []
  CELL.lastIndex = 0
  for (let end: string | undefined = ','; end === ',' || CELL.lastIndex < text.length; ) {
    const [whole, quoted, plain = '', ended] = CELL.exec(text) ?? []
    if (whole === undefined) return undefined
    row.push(quoted === undefined ? plain : quoted.replaceAll('""', '"'))
    end = ended
    if (end === ',') continue
    if (row.length > 1 || row[0] !== '') rows.push(row)
    row = []
  }
  return rows
}
