import type { ISql } from './client.ts'

/** Each write to the stream is one message of the protocol: many lines in one message are twice as fast. */
const LINES_PER_WRITE = 500

const ESCAPED = /[\\\n\r\t]/
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** COPY's text form of a value: https://www.postgresql.org/docs/18/sql-copy.html, "Text Format". */
function cell(value: string | number | null): string {
  if (value === null) return '\\N'
  if (typeof value === 'number' || !ESCAPED.test(value)) return `${value}`
  return value.replace(/[\\\n\r\t]/g, (char) => ESCAPES[char] ?? char)
}

/** PostgreSQL refuses COPY into tables whose row level security applies to the user. */
export async function canCopyInto(tx: ISql, tables: readonly string[]): Promise<boolean> {
  const [row] = await tx<{ active: boolean }[]>`
    select bool_or(row_security_active(t.name)) as active from unnest(${[...tables]}::text[]) t (name)`
  return row?.active === false
}

/**
 * Writes `rows` to the stream of a `copy … from stdin`: the values of a row are those of the statement's columns.
 * Rejects with PostgreSQL's error, or when the connection is lost.
 */
export async function copyRows<Row>(
  stream: NodeJS.WritableStream,
  rows: readonly Row[],
  valuesOf: (row: Row) => readonly (string | number | null)[],
): Promise<void> {
  const done = new Promise<void>((resolve, reject) => {
    stream.once('finish', resolve)
    stream.once('error', reject)
  })
  for (let start = 0; start < rows.length; start += LINES_PER_WRITE) {
    let chunk = ''
    for (const row of rows.slice(start, start + LINES_PER_WRITE))
      chunk += `${valuesOf(row).map(cell).join('\t')}\n`
    if (!stream.write(chunk))
      await Promise.race([new Promise((resolve) => stream.once('drain', resolve)), done])
  }
  stream.end()
  await done
}
