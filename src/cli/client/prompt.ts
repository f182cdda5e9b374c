import { visible } from '../../base/text.ts'

/** Asks on the terminal; only `y` and `yes` mean yes. */
export async function askYesNo(question: string): Promise<boolean> {
  process.stderr.write(`${visible(question)} [y/N] `)
  for await (const line of console) return /^y(es)?$/i.test(line.trim())
  return false
}

/** Whether there is somebody to ask. */
export const isInteractive = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true
