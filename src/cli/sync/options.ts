// The options of `sync`: their type, their check, and the question before records are sent.

import type { ProjectFrom } from '../../analysis/agents/transcript/workspace.ts'
import { OperatorError } from '../../base/errors.ts'
import type { OrgOptions } from '../client/find-server.ts'
import { checked } from '../client/find-user.ts'
import { askYesNo, isInteractive } from '../client/prompt.ts'
import { printMessage } from '../command/output.ts'

export interface SyncOptions extends OrgOptions {
  project?: string
  projectFrom?: ProjectFrom
  user?: string
  content?: true
  dryRun?: true
  /** The former name of `resend`. */
  all?: true
  resend?: true
  reassign?: true
  restore?: true
  /** UTC, ms since 1970. */
  since?: number
  /** Milliseconds. */
  settled?: number
  quiet?: true
  yes?: true
}

export const isResend = ({ all, resend }: SyncOptions): boolean => all === true || resend === true

/** Throws OperatorError for options that are wrong. */
export function checkOptions({ project, user }: SyncOptions): void {
  if (project !== undefined && (project === '' || project.length > 200))
    throw new OperatorError('--project must have 1 to 200 characters', 2)
  if (user !== undefined) checked(user, '--user')
}

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
  const list = paths.map((path) => `  ${path}`).join('\n')
  if (!isInteractive())
    throw new OperatorError(
      `give the paths to send, or --yes for the agents' usual folders, of which there are:\n${list}`,
      2,
    )
  printMessage(`Sessions of coding agents are in\n${list}`)
  return await askYesNo(`Send them to ${to}?`)
}
