import { OperatorError } from '../../base/errors.ts'
import { askYesNo, isInteractive } from '../client/prompt.ts'
import { printMessage } from '../command/output.ts'
import type { SyncOptions } from './options.ts'

/**
 * Whether the usual folders may be sent: nobody named them. Asks on a terminal; throws OperatorError (wrong usage) where
 * there is none.
 */
export async function isAgreed(
  paths: readonly string[],
  { yes, dryRun }: SyncOptions,
  to: string | undefined,
): Promise<boolean> {
  if (yes === true || dryRun === true) return true
  const found = paths.map((path) => `  ${path}`).join('\n')
  if (!isInteractive()) {
    throw new OperatorError(
      `give the paths to send, or --yes for the agents' usual folders, of which there are:\n${found}`,
      2,
    )
  }
  printMessage(`Sessions of coding agents are in\n${found}`)
  return await askYesNo(`Send them to ${to}?`)
}
