// A backup is one file of zstd frames. Unpacked it is a script that psql runs on a database with the same schema:
//
//   -- cloud-analytics backup {"format":1,…}           the header
//   copy "api_keys" ("id", …) from stdin;              for each table a block: this line,
//   key_1	org_1	…                                      its rows in the text form of COPY,
//   \.                                                 and this one
//   -- tables [{"name":"api_keys","rows":1,…}]         the sums, which are known last
//
// The last 40 bytes are a frame that zstd skips, with the SHA-256 of all bytes before it: a changed or missing byte
// anywhere is found. Before it may be another such frame, with the signature (signature.ts).

import { OperatorError } from '../../base/errors.ts'
import type { AppliedMigration } from '../migrate.ts'

const FORMAT = 1
const HEADER_PREFIX = '-- cloud-analytics backup '
const SUMS_PREFIX = '-- tables '

/** The line after a table's rows. In a row a backslash is escaped, so no row is like it. */
export const END_OF_ROWS = '\\.\n'

/** A restore needs these before the rows. */
interface Header {
  format: typeof FORMAT
  /** RFC 3339, of the snapshot. */
  created_at: string
  program: string
  /** The version of the PostgreSQL that it was made from. */
  postgres: string
  /** The schema: all migrations of that database, in order. */
  migrations: readonly AppliedMigration[]
  /** The key that encrypts webhook secrets, in base64; null: not inside. */
  secret_key: string | null
}

/** Size and content of a table: `bytes` and `sha256` are of its rows as text. */
export interface TableSum {
  name: string
  rows: number
  bytes: number
  sha256: string
}

export const headerLine = (header: Omit<Header, 'format'>): string =>
  `${HEADER_PREFIX}${JSON.stringify({ format: FORMAT, ...header })}\n`

/** Throws OperatorError when the line is not a header of this format. */
export function parseHeader(line: string): Header {
  const header = parseAfter<{ format: number }>(HEADER_PREFIX, line)
  if (header === undefined) throw new OperatorError('it is not a backup of this program')
  if (header.format !== FORMAT)
    throw new OperatorError(
      `it is a backup of format ${header.format}, and this program reads format ${FORMAT}: use the newer program`,
    )
  return header as Header
}

export const sumsLine = (tables: readonly TableSum[]): string => `${SUMS_PREFIX}${JSON.stringify(tables)}\n`

/** Undefined when the line has no sums. */
export const parseSums = (line: string): readonly TableSum[] | undefined =>
  parseAfter<readonly TableSum[]>(SUMS_PREFIX, line)

function parseAfter<Value>(prefix: string, line: string): Value | undefined {
  if (!line.startsWith(prefix)) return undefined
  try {
    return JSON.parse(line.slice(prefix.length)) satisfies Value
  } catch {
    return undefined
  }
}

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** The line before a table's rows. */
export const tableLine = (name: string, columns: readonly string[]): string =>
  `copy ${quoted(name)} (${columns.map(quoted).join(', ')}) from stdin;\n`

const TABLE_LINE = /^copy "([^"]+)" \("([^"]+(?:", "[^"]+)*)"\) from stdin;\n$/

/** Undefined when the line begins no table. Names with a quote, which no table of ours has, are not read. */
export function parseTableLine(line: string): { name: string; columns: readonly string[] } | undefined {
  const [, name, columns] = TABLE_LINE.exec(line) ?? []
  return name === undefined || columns === undefined ? undefined : { name, columns: columns.split('", "') }
}

/** Frames that zstd skips, and the numbers that they begin with. */
const CHECKSUM_FRAME = 0x184d2a5c
const SIGNATURE_FRAME = 0x184d2a5b
const DIGEST_BYTES = 32
const FRAME_HEADER_BYTES = 8
/** Size of the frame with the checksum, and of that with the signature. */
export const TRAILER_BYTES = FRAME_HEADER_BYTES + DIGEST_BYTES

/** The last bytes of a file whose other bytes have the SHA-256 `digest`. */
export const trailerOf = (digest: Uint8Array): Buffer => skippedFrame(CHECKSUM_FRAME, digest)

/** The bytes before those. */
export const signatureFrame = (signature: Uint8Array): Buffer => skippedFrame(SIGNATURE_FRAME, signature)

/** The signature in these bytes; undefined when they are no frame with one. */
export const parseSignature = (bytes: Buffer): Buffer | undefined => {
  const signature = bytes.subarray(FRAME_HEADER_BYTES)
  return bytes.equals(signatureFrame(signature)) ? signature : undefined
}

function skippedFrame(magic: number, content: Uint8Array): Buffer {
  const frame = Buffer.alloc(TRAILER_BYTES)
  frame.writeUInt32LE(magic, 0)
  frame.writeUInt32LE(DIGEST_BYTES, 4)
  frame.set(content, FRAME_HEADER_BYTES)
  return frame
}

/**
 * Largest text of one row: four times the largest request, from which the largest rows come. PostgreSQL holds a whole
 * row, so that one of a gigabyte in a file that packs it well would take as much memory.
 */
const MAX_ROW_BYTES = 128 * 1024 * 1024

/** Counts rows, bytes and SHA-256 of a table's text. `add` throws OperatorError for a row that is too large. */
export function createTableSum(name: string) {
  const hasher = new Bun.CryptoHasher('sha256')
  let rows = 0
  let bytes = 0
  /** Bytes of the row that has not ended. */
  let rowBytes = 0
  const addToRow = (count: number) => {
    rowBytes += count
    if (rowBytes > MAX_ROW_BYTES)
      throw new OperatorError(
        `a row of ${name} has more than ${MAX_ROW_BYTES / 2 ** 20} MiB, the most in a backup`,
      )
  }
  return {
    add(chunk: Buffer): void {
      hasher.update(chunk)
      bytes += chunk.length
      let from = 0
      // a line feed within a row is escaped
      for (let end = chunk.indexOf(0x0a); end !== -1; end = chunk.indexOf(0x0a, from)) {
        rows += 1
        addToRow(end - from)
        rowBytes = 0
        from = end + 1
      }
      addToRow(chunk.length - from)
    },
    result: (): TableSum => ({ name, rows, bytes, sha256: hasher.digest('hex') }),
  }
}

/** Says how two sums of one table differ; undefined when they are the same. */
export function differenceOf(table: TableSum, expected: TableSum): string | undefined {
  if (table.rows !== expected.rows) return `${table.name} has ${table.rows} rows instead of ${expected.rows}`
  return table.sha256 === expected.sha256 ? undefined : `rows of ${table.name} have other content`
}
