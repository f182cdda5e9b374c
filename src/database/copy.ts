// Writes many rows by COPY.

import type { ISql } from './client.ts'
import { type Columns, type ColumnType, describeColumns } from './rows.ts'

/** Each write to the stream is one message of the protocol: many lines in one message are twice as fast. */
const LINES_PER_WRITE = 500

const ESCAPED = /[\\\n\r\t]/
const ESCAPES: Record<string, string> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** COPY's text form of a value: https://www.postgresql.org/docs/18/sql-copy.html, "Text Format". */
function cell(type: ColumnType, value: string | number | boolean | null): string {
  if (value === null) return '\\N'
  if (type === 'bytea') return `\\\\x${value}`
  if (typeof value !== 'string' || !ESCAPED.test(value)) return `${value}`
  return value.replace(/[\\\n\r\t]/g, (char) => ESCAPES[char] ?? char)
}

/** PostgreSQL refuses COPY into tables whose row level security applies to the user. */
export async function canCopyInto(tx: ISql, tables: readonly string[]): Promise<boolean> {
  const [row] = await tx<{ active: boolean }[]>`
    select bool_or(row_security_active(t.name)) as active from unnest(${[...tables]}::text[]) t (name)`
  return row?.active === false
}

/** Writes the organization's rows by COPY. Rejects with PostgreSQL's error, or when the connection is lost. */
export async function copyRows<Row extends object, Name extends string>(
  tx: ISql,
  orgId: string,
  table: string,
  rows: readonly Row[],
  columns: Columns<Row, Name>,
): Promise<void> {
  const described = describeColumns(columns)
  const organization = cell('text', orgId)
  const names = tx.unsafe(described.map(({ name }) => name).join(', '))
  const stream = await tx`copy ${tx(table)} (org_id, ${names}) from stdin`.writable()
  const done = new Promise<void>((resolve, reject) => {
    stream.once('finish', resolve)
    stream.once('error', reject)
  })
  for (let start = 0; start < rows.length; start += LINES_PER_WRITE) {
    let chunk = ''
    for (const row of rows.slice(start, start + LINES_PER_WRITE)) {
      chunk += organization
      for (const { type, read } of described) chunk += `\t${cell(type, read(row))}`
      chunk += '\n'
    }
    if (!stream.write(chunk))
      await Promise.race([new Promise((resolve) => stream.once('drain', resolve)), done])
  }
  stream.end()
  await done
}
