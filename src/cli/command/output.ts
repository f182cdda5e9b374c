import { codeOf } from '../../errors.ts'
import { redact } from '../../log.ts'

const CLEAR_LINE = '\r\x1b[2K'

/** Prints a command's one result on standard output: `value` as JSON with --json, else `text`. */
export async function printResult(json: boolean, value: unknown, text: string): Promise<void> {
  await Bun.write(Bun.stdout, `${json ? JSON.stringify(value) : text}\n`)
}

/** Prints a line for the user on standard error: standard output is for results. */
export function printMessage(text: string): void {
  // clears a progress bar, which is drawn again with its next change
  process.stderr.write(`${process.stderr.isTTY ? CLEAR_LINE : ''}${text}\n`)
}

/** Prints an error as one line without a stack, and without a secret that a driver may have put into it. */
export function printError(message: string): void {
  printMessage(`error: ${redact(message)}`)
}

/** Rows as an aligned table; the text `none` when there are no rows. */
export function table<Row extends object>(
  rows: readonly Row[],
  columns: readonly (keyof Row & string)[],
  none: string,
): string {
  if (rows.length === 0) return none
  const cells = [
    columns.map((column) => column.toUpperCase()),
    ...rows.map((row) => columns.map((column) => cellOf(row[column]))),
  ]
  const widths = columns.map((_column, index) => Math.max(...cells.map((row) => row[index]?.length ?? 0)))
  return cells
    .map((row) =>
      row
        .map((cell, index) => cell.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '-'
  return Array.isArray(value) ? value.join(',') : String(value)
}

/** Standard output as a stream: `write` resolves to false when the reader has closed the pipe. */
export function outputStream(): { write(text: string): Promise<boolean> } {
  const writer = Bun.stdout.writer()
  return {
    async write(text) {
      try {
        writer.write(text)
        await writer.flush()
        return true
      } catch (error) {
        // as in `export | head`
        if (codeOf(error) === 'EPIPE') return false
        throw error
      }
    },
  }
}
