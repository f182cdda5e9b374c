// Prints results on standard output and messages on standard error, with controls made visible.

import { codeOf, messageOf, noSpaceError, OperatorError } from '../../base/errors.ts'
import { createLog, redact } from '../../base/log.ts'
import { escaped, visible } from '../../base/text.ts'

const CLEAR_LINE = '\r\x1b[2K'

/** Parses JSON that came from elsewhere, whose texts are printed with colours, or handed to a program that prints them. */
export const parseVisible = <Value>(json: string): Value =>
  JSON.parse(json, (_name, value: unknown) => (typeof value === 'string' ? visible(value) : value))

/** Prints a command's one result on standard output: `value` as JSON with --json, else `text`. */
export async function printResult(json: boolean, value: unknown, text: string): Promise<void> {
  await printText(visible(json ? JSON.stringify(value) : text))
}

/** Prints a result that is ready: `visible` in all that came from elsewhere, since colours are controls too. */
export async function printText(text: string): Promise<void> {
  try {
    await Bun.write(Bun.stdout, `${text}\n`)
  } catch (error) {
    // the reader has closed the pipe, as in `sessions | head`
    if (codeOf(error) !== 'EPIPE') throw outputError(error)
  }
}

/** Names what could not be written: the error of a full disk does not. */
const outputError = (error: unknown): OperatorError =>
  noSpaceError(error, 'standard output') ??
  new OperatorError(`standard output cannot be written (${codeOf(error) ?? messageOf(error)})`)

export function printMessage(text: string): void {
  // clears a progress bar, which is drawn again with its next change
  process.stderr.write(`${process.stderr.isTTY ? CLEAR_LINE : ''}${visible(text)}\n`)
}

/** Prints an error without a driver's secrets, with the stack where it is given; with `json` as a line of the log. */
export function printError(message: string, json: boolean, stack?: string): void {
  if (json) {
    createLog('error', 'json').error(message, stack === undefined ? {} : { stack })
  } else {
    printMessage(`error: ${redact(message)}`)
    if (stack !== undefined) printMessage(redact(stack))
  }
}

/** The text with spaces behind it, or before it, to this many columns of a terminal: some characters take two. */
export function pad(text: string, width: number, side: 'left' | 'right' = 'left'): string {
  const spaces = ' '.repeat(Math.max(0, width - Bun.stringWidth(text)))
  return side === 'left' ? text + spaces : spaces + text
}

/** A value as the text of a cell: on one line, without controls of the terminal. */
export function cellOf(value: unknown): string {
  if (value === null || value === undefined) return '-'
  // a cell stays on its line and in its column
  return visible(Array.isArray(value) ? value.join(',') : String(value)).replace(/[\t\n]/g, escaped)
}

/** Standard output as a stream of JSON: `write` resolves to false when the reader has closed the pipe. */
export function outputStream(): { write(text: string): Promise<boolean> } {
  const writer = Bun.stdout.writer()
  return {
    async write(text) {
      try {
        // this is a promise on Windows, which fails when the reader is gone
        await writer.write(visible(text))
        await writer.flush()
        return true
      } catch (error) {
        // `head` closes the pipe early in `export | head`
        if (codeOf(error) === 'EPIPE') return false
        throw outputError(error)
      }
    },
  }
}
